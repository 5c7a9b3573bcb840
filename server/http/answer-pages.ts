import type { AnswerPages, PagePart } from "../../contract/build-manifest.ts";
import { escapeHtml } from "../../contract/visible-text.ts";

type AnswerPage = Exclude<keyof AnswerPages, "start">;
type Slots = Readonly<Record<string, string>>;

/** The page's text as buffers, so that all unread answers share it in memory. */
type LoadedPart = Buffer | ((slots: Slots) => readonly Buffer[]);

/** Returns a function that fills a page. A field without a value gets the one that it starts with. */
export function loadAnswerPages({ start, ...pages }: AnswerPages): (page: AnswerPage, slots: Slots) => Buffer[] {
  const loaded = {
    sent: pages.sent.map(loadPart),
    estimated: pages.estimated.map(loadPart),
    invalid: pages.invalid.map(loadPart),
    failed: pages.failed.map(loadPart),
  };
  return (page, slots) => fill(loaded[page], { ...start, ...slots });
}

function fill(parts: readonly LoadedPart[], slots: Slots): Buffer[] {
  return parts.flatMap((part) => (typeof part === "function" ? part(slots) : [part]));
}

function loadPart(part: PagePart): LoadedPart {
  if (typeof part === "string") return Buffer.from(part);
  if ("text" in part) return (slots) => [Buffer.from(escapeHtml(slots[part.text] ?? ""))];
  if ("html" in part) return (slots) => [Buffer.from(slots[part.html] ?? "")];
  const inside = part.parts.map(loadPart);
  const isIncluded = "if" in part;
  const texts = Object.entries("if" in part ? part.if : part.unless);
  return (slots) => {
    const areEqual = texts.every(([slot, text]) => (slots[slot] ?? "") === text);
    return areEqual === isIncluded ? fill(inside, slots) : [];
  };
}

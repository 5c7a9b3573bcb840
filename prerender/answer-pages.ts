import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { UNWEIGHED } from "../app/components/carbon-figure.tsx";
import type { RenderContext } from "../app/screen.ts";
import { type AnswerPages, errorSlot, type PagePart } from "../contract/build-manifest.ts";
import { formatTotal, unbroken } from "../contract/footprint/fields.ts";
import { problemsTitle, type SendEmailAnswer } from "../contract/send-email-answer.ts";

type Element = DefaultTreeAdapterTypes.Element;

/** A range of the page, and what the server writes there. Ranges are nested or apart. */
interface Cut {
  start: number;
  end: number;
  fill(inside: readonly PagePart[]): PagePart[];
}

/** Private-use characters mark a slot in a text that React renders. */
const MARKED = /\uE000(text|html) ([^\uE001]+)\uE001/g;
const mark = (kind: "text" | "html", slot: string) => `\uE000${kind} ${slot}\uE001`;

/** Formatted by the page, so it is found by its text. */
const TOTAL_KG = 123_456_789;

/**
 * Renders the contact page for each kind of answer, with the carbon figure of the page itself, and cuts it at the
 * places that the server fills.
 */
export async function answerPages(
  { renderAnswer, START_VALUES: start }: typeof import("../app/render.tsx"),
  context: RenderContext,
  grams: number,
): Promise<AnswerPages> {
  const names = Object.keys(start);
  const errors = Object.fromEntries(names.map((name) => [name, mark("text", errorSlot(name))]));
  const answers = {
    sent: { success: true, reference: mark("text", "reference") },
    estimated: { success: true, reference: mark("text", "reference"), footprint: { totalKg: TOTAL_KG } },
    invalid: { success: false, error: mark("text", "error"), fields: errors },
    failed: { success: false, error: mark("text", "error") },
  } satisfies Record<string, SendEmailAnswer>;
  const cut = async (kind: keyof typeof answers): Promise<PagePart[]> => {
    const reportHtml = kind === "estimated" ? mark("html", "report") : "";
    const [json, country] = [mark("text", "answer"), mark("text", "country")];
    const unweighed = await renderAnswer({ answer: answers[kind], reportHtml, json, country }, context);
    const html = unweighed.replace(`>${UNWEIGHED}<`, `>${grams.toFixed(3)}<`);
    const cuts = [
      ...markedCuts(html),
      ...(kind === "estimated" ? [textCut(html, unbroken(formatTotal(TOTAL_KG)), "total")] : []),
      ...(kind === "invalid" ? [textCut(html, problemsTitle(names.length), "problems")] : []),
      ...(kind === "invalid" || kind === "failed" ? elementCuts(html, start) : []),
    ];
    return partsOf(
      html,
      cuts.sort((a, b) => a.start - b.start || b.end - a.end),
    );
  };
  return {
    start,
    sent: await cut("sent"),
    estimated: await cut("estimated"),
    invalid: await cut("invalid"),
    failed: await cut("failed"),
  };
}

function markedCuts(html: string): Cut[] {
  return [...html.matchAll(MARKED)].map(({ index, 0: { length }, 1: kind = "", 2: slot = "" }) => ({
    start: index,
    end: index + length,
    fill: () => [kind === "html" ? { html: slot } : { text: slot }],
  }));
}

function textCut(html: string, text: string, slot: string): Cut {
  const start = html.indexOf(text);
  if (start < 0 || html.includes(text, start + 1)) throw new Error(`The contact page must contain "${text}" once.`);
  return { start, end: start + text.length, fill: () => [{ text: slot }] };
}

/** Values in their fields; errors only where there are some; parts open that contain either. */
function elementCuts(html: string, start: AnswerPages["start"]): Cut[] {
  // As for a browser without script, so that the second list of countries is read too.
  const elements = elementsIn(parse(html, { sourceCodeLocationInfo: true, scriptingEnabled: false }));
  return elements.flatMap((element): Cut[] => {
    const name = attributeOf(element, "name") ?? "";
    switch (element.tagName) {
      case "input":
      case "textarea":
      case "select":
        return name in start ? [...valueCuts(element, name), ...errorAttributeCuts(element, name)] : [];
      case "details": {
        const inside = elementsIn(element).map((one) => attributeOf(one, "name") ?? "");
        const fields = inside.filter((field) => field in start);
        const values = fields.flatMap((field) => [
          [field, start[field] ?? ""],
          [errorSlot(field), ""],
        ]);
        return [insertion(element, "data-fold", { unless: Object.fromEntries(values), parts: [' open=""'] })];
      }
      case "p":
      case "li": {
        const slot = [...(textOf(element).matchAll(MARKED) ?? [])].at(-1)?.[2] ?? "";
        const isError = Object.keys(start).some((field) => errorSlot(field) === slot);
        const { startOffset, endOffset } = located(element);
        return isError
          ? [{ start: startOffset, end: endOffset, fill: (parts) => [{ unless: { [slot]: "" }, parts }] }]
          : [];
      }
      default:
        return [];
    }
  });
}

function valueCuts(element: Element, name: string): Cut[] {
  const { startTag, endTag } = located(element);
  const value = attributeOf(element, "value") ?? "";
  if (element.tagName === "textarea") {
    // Browsers drop one line end at the start of a text area.
    return [{ start: startTag.endOffset, end: endTag?.startOffset ?? 0, fill: () => ["\n", { text: name }] }];
  }
  if (element.tagName === "select") {
    return elementsIn(element).flatMap((option) => {
      const chosen = { if: { [name]: attributeOf(option, "value") ?? "" }, parts: [' selected=""'] };
      return [...removal(option, "selected"), insertion(option, "value", chosen)];
    });
  }
  if (attributeOf(element, "type") === "radio") {
    return [
      ...removal(element, "checked"),
      insertion(element, "value", { if: { [name]: value }, parts: [' checked=""'] }),
    ];
  }
  const { start, end } = attributeRange(element, "value");
  return [{ start, end, fill: () => ['value="', { text: name }, '"'] }];
}

function errorAttributeCuts(element: Element, name: string): Cut[] {
  if (attributeOf(element, "aria-invalid") !== "true") return [];
  const slot = { [errorSlot(name)]: "" };
  const invalid = attributeRange(element, "aria-invalid");
  const described = attributeRange(element, "aria-describedby");
  return [
    {
      ...invalid,
      fill: (parts) => [
        { unless: slot, parts },
        { if: slot, parts: ['aria-invalid="false"'] },
      ],
    },
    { ...described, fill: (parts) => [{ unless: slot, parts }] },
  ];
}

function removal(element: Element, attribute: string): Cut[] {
  return attributeOf(element, attribute) === undefined
    ? []
    : [{ ...attributeRange(element, attribute), fill: () => [] }];
}

/** Writes the part after an attribute. */
function insertion(element: Element, attribute: string, part: PagePart): Cut {
  const { end } = attributeRange(element, attribute);
  return { start: end, end, fill: () => [part] };
}

function partsOf(html: string, cuts: readonly Cut[], from = 0, to = html.length): PagePart[] {
  const parts: PagePart[] = [];
  let position = from;
  for (const cut of cuts) {
    if (cut.start < position || cut.end > to) continue;
    const inside = cuts.filter((one) => one !== cut && one.start >= cut.start && one.end <= cut.end);
    parts.push(html.slice(position, cut.start), ...cut.fill(partsOf(html, inside, cut.start, cut.end)));
    position = cut.end;
  }
  return [...parts, html.slice(position, to)].filter((part) => part !== "");
}

function elementsIn(node: DefaultTreeAdapterTypes.ParentNode): Element[] {
  return node.childNodes.flatMap((child) => ("tagName" in child ? [child, ...elementsIn(child)] : []));
}

function textOf(node: DefaultTreeAdapterTypes.ParentNode): string {
  return node.childNodes
    .map((child) => ("value" in child ? child.value : "childNodes" in child ? textOf(child) : ""))
    .join("");
}

function attributeOf({ attrs }: Element, name: string): string | undefined {
  return attrs.find((attribute) => attribute.name === name)?.value;
}

function located(element: Element) {
  const { sourceCodeLocation: location } = element;
  if (!location?.startTag) throw new Error(`The contact page has a <${element.tagName}> without a start tag.`);
  return { ...location, startTag: location.startTag };
}

function attributeRange(element: Element, name: string): { start: number; end: number } {
  const range = element.sourceCodeLocation?.attrs?.[name];
  if (!range) throw new Error(`The contact page has a <${element.tagName}> without ${name}.`);
  return { start: range.startOffset, end: range.endOffset };
}

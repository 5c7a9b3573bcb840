import { formatDuration } from "../../contract/duration.ts";
import type { FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import { formatMass, formatTotal } from "../../contract/footprint/fields.ts";
import { describeInputs } from "../../contract/footprint/words.ts";
import { capitalised, visible, visibleLines } from "../../contract/text.ts";
import type { StoredMessage } from "../../server/store/model.ts";
import { cellText, type Fact } from "../export-messages.ts";
import { messageJson, type readDetail, type View } from "../message-view.ts";
import type { readStatus } from "../status.ts";
import { lostDrafts, marksOf, STATE, TAB_NAME, TABS, type Wait, waitText } from "../words.ts";

// How results print at a terminal. Visitors' text is escaped here.

export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}

function cut(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}

function ageOf(moment: Date, now: Date): string {
  return formatDuration(now.getTime() - moment.getTime());
}

const formatTime = (at: Date) => at.toISOString();

export function messageTable(messages: readonly View[], now: Date, account: string | null): string {
  const reader = { now, account, formatTime, formatDay: (at: Date) => formatTime(at).slice(0, 10) };
  const rows = messages.map((message) => {
    const marks = marksOf(message, reader).map(([mark]) => mark);
    const state = marks.join(", ") || STATE.delivered[0];
    const text = cut(visible(message.message.replaceAll(/\s+/g, " ")), 40);
    return [state, ageOf(message.acceptedAt, now), message.reference, senderOf(message), text];
  });
  return table([["STATE", "AGE", "REFERENCE", "FROM", "MESSAGE"], ...rows]);
}

/** `name <address>`, each cut, so that a long name cannot hide the address. */
export function senderOf({ name, email }: StoredMessage): string {
  return `${cut(visible(name), 20)} <${cut(visible(email), 40)}>`;
}

export const stateOf = ({ state }: StoredMessage): string => STATE[state][0].toLowerCase();

export const withDrafts = (question: string, messages: Parameters<typeof lostDrafts>[0]): string =>
  `${question} ${lostDrafts(messages, formatTime)}`.trim();

export function detailText(detail: Awaited<ReturnType<typeof readDetail>>): string {
  const { message: text, footprint, dueAt: _, notes: __, replies: ___, mails: ____, ...facts } = messageJson(detail);
  const { mail, ...others } = detail.waits;
  const waits = Object.entries({ ...(mail && { delivery: mail }), ...others });
  const known = {
    ...facts,
    state: stateOf(detail),
    ...Object.fromEntries(waits.map(([name, wait]) => [name, formatWait(wait, detail.readAt)])),
  };
  const given = Object.entries<Fact>(known).filter(([, value]) => value !== null && value !== "" && value !== false);
  const lines = given.map(([name, value]) => `${`${labelOf(name)}:`.padEnd(18)} ${shown(value)}\n`);
  const history = detail.history.map(({ at, name, detail }) => {
    const reason = detail === null ? "" : `: ${visibleLines(detail).replaceAll("\n", "\n    ")}`;
    return `  ${at.toISOString()}  ${name}${reason}\n`;
  });
  const estimate = footprint ? `${estimateText(footprint)}\n` : "";
  const signs = detail.spamSigns.map((sign) => `  ${visible(sign)}\n`).join("");
  const spam = signs && `Looks like spam. The strongest signs:\n${signs}\n`;
  return `${lines.join("")}\n${spam}${estimate}${visibleLines(text)}\n\nHistory:\n${history.join("")}`;
}

export function formatWait(wait: Wait, now: Date): string {
  return waitText(wait, now, formatTime);
}

function estimateText(footprint: FootprintEstimate): string {
  const rows = describeInputs(footprint).map(({ label, value, kg }) => [`  ${label}`, value, formatMass(kg)]);
  return `Footprint estimate: ${formatTotal(footprint.totalKg)}\n${table(rows)}`;
}

function labelOf(name: string): string {
  return capitalised(name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^is /, ""));
}

function shown(value: Fact): string {
  return value === true ? "yes" : visible(cellText(value));
}

export function statsText(status: Awaited<ReturnType<typeof readStatus>>): string {
  const { now, website, lastBackupAt, troubles, counts, notOpened, sent } = status;
  const ago = (at: Date) => `${at.toISOString()} (${ageOf(at, now)} ago)`;
  const { isRunning, lastSeenAt } = website;
  const rows = [
    ...TABS.map((tab) => [TAB_NAME[tab], String(counts[tab])]),
    ["Quarantined, not opened", String(notOpened)],
    ...sent.map(({ name, delivered }) => [`${name}: delivered`, String(delivered)]),
  ];
  const lines = [
    `Website: ${isRunning ? "running" : `not running${lastSeenAt ? ` since ${ago(lastSeenAt)}` : ""}`}.`,
    `Last backup: ${lastBackupAt ? ago(lastBackupAt) : "none"}.`,
    troubles.length === 0 ? "Nothing is wrong." : "Needs attention:",
    ...troubles.map(({ what, remedy }) => `- ${what}. ${remedy}.`),
    "",
  ];
  return lines.map((line) => `${visible(line)}\n`).join("") + table(rows);
}

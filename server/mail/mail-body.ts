import type { StoredMessage } from "../store/store.ts";

/** The visitor's words come last and run to the end, so that nothing in them can pass for one of our lines. */
export function textBody(message: StoredMessage, brand: string, country: string): string {
  const facts = factsOf(message, country).map(([label, value]) => `${label}: ${value}`);
  return [intro(message, brand), howToAnswer(message), "", ...facts, "", "Message:", "", message.message].join("\n");
}

/** The same as HTML without a link or an image; `dir="auto"` keeps a right-to-left value from turning its row around. */
export function htmlBody(message: StoredMessage, brand: string, country: string): string {
  const rows = factsOf(message, country).map(
    ([label, value]) => `<tr><th align="left">${escapeHtml(label)}</th><td dir="auto">${escapeHtml(value)}</td></tr>`,
  );
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"></head><body>',
    `<p dir="auto">${escapeHtml(intro(message, brand))}<br>${escapeHtml(howToAnswer(message))}</p>`,
    `<table cellpadding="4">${rows.join("")}</table>`,
    `<p>Message:</p><div dir="auto" style="white-space: pre-wrap">${escapeHtml(message.message)}</div>`,
    "</body></html>",
  ].join("\n");
}

function intro(message: StoredMessage, brand: string): string {
  return `${message.name} wrote through the contact form of ${brand}.`;
}

function howToAnswer(message: StoredMessage): string {
  return `Reply to this e-mail to answer ${message.name}.`;
}

function factsOf(message: StoredMessage, country: string): (readonly [label: string, value: string])[] {
  return [
    ["Reference", message.reference],
    ["Received", `${message.acceptedAt.toISOString().slice(0, 19).replace("T", " ")} UTC`],
    ["Name", message.name],
    ["E-mail", message.email],
    ["Phone", message.phone],
    ["Country", country ? `${country} (${message.country})` : "not given"],
  ];
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}

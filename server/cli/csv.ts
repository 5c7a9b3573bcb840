/**
 * RFC 4180: CRLF between rows, quotes where they are needed. A cell that a spreadsheet would take for a formula gets an
 * apostrophe before it, so that opening the file runs nothing a visitor wrote.
 */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(toCell).join(",")}\r\n`).join("");
}

function toCell(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

import { afterEach } from "vitest";

const MAX_LINES = 60;
const MAX_LINE_LENGTH = 300;
const COLOUR_END = "\u001b[39m";

// A page has lines of up to 60,000 characters. The message of a failed assertion quotes only its start, but the
// comparison below it would print all of it.
afterEach(({ task }) => {
  for (const error of task.result?.errors ?? []) {
    if (error.diff) error.diff = error.diff.split("\n").slice(0, MAX_LINES).map(shorten).join("\n");
  }
});

function shorten(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  return `${line.slice(0, MAX_LINE_LENGTH)}…${line.endsWith(COLOUR_END) ? COLOUR_END : ""}`;
}

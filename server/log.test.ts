import { spawnSync } from "node:child_process";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { createDefectLog, isJournal, journalLine, openLogStream, plainError, terminalLine } from "./log.ts";

test("logs only an error's kind, code and place, not its message or properties", () => {
  const error = Object.assign(
    new TypeError("no ada@example.com\n    in Ada's\n  at all", { cause: new Error("Ada's") }),
    { code: "E_BAD", rawPacket: Buffer.from("Ada") },
  );
  const logged = plainError(error);
  expect(logged).toEqual({ type: "TypeError", message: "E_BAD", stack: expect.stringContaining("log.test.ts") });
  // Only with these signs: the path of the clone, which is in the stack, may contain the name.
  expect(JSON.stringify(logged)).not.toMatch(/ada@|ada's/i);
});

test("logs a defect once, however Node came to it", async () => {
  const logged: unknown[] = [];
  const noteDefect = createDefectLog({ error: (event) => void logged.push(event) });
  const noted: boolean[] = [];
  const fail = () => void noted.push(noteDefect(new TypeError("x")));
  process.nextTick(fail);
  setImmediate(fail);
  await nextTurn();
  expect([noted, logged.length]).toEqual([[true, true], 1]);
});

/** A named pipe that only the test reads, on request. */
async function makePipe() {
  const path = join(await makeScratchFolder(), "pipe");
  spawnSync("mkfifo", [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(fd));
  const buffer = Buffer.alloc(65_536);
  return {
    path,
    /** The next part of its content. */
    read(): string {
      try {
        return buffer.toString("latin1", 0, readSync(fd, buffer));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EAGAIN") return "";
        throw error;
      }
    },
  };
}

test("writing to a pipe without a reader does not wait, and dropped lines are counted", async () => {
  const pipe = await makePipe();
  const log = openLogStream(openSync(pipe.path, "w"), journalLine);
  const written = 10_000;
  for (let index = 0; index < written; index += 1) log.write(`${JSON.stringify({ index, text: "x".repeat(100) })}\n`);
  const flushed = new Promise<void>((resolve) => log.flush(resolve));
  let text = "";
  await expect.poll(() => (text += pipe.read())).toContain('"event":"log-dropped"');
  const lines = text.trimEnd().split("\n");
  const parsed = (line = "") => JSON.parse(line.slice("<6>".length));
  expect(lines.at(-1)).toMatch(/^<3>/);
  const { count, level, msg } = parsed(lines.pop());
  expect({ level, msg }).toEqual({ level: 50, msg: expect.stringMatching(/dropped/) });
  expect(count).toBeGreaterThan(1000);
  expect(lines.map((line) => parsed(line).index)).toEqual(Array.from({ length: written - count }, (_, index) => index));
  await flushed;
  log.write("next\n");
  await expect.poll(() => pipe.read()).toBe("<6>next\n");
});

test("lines for the journal start with their priority", async () => {
  const pipe = await makePipe();
  const fd = openSync(pipe.path, "w");
  const { dev, ino } = fstatSync(fd);
  expect([undefined, "1:2", `${dev}:${ino}`].map((name) => isJournal(fd, name))).toEqual([false, false, true]);
  const log = openLogStream(fd, journalLine);
  for (const level of [30, 40, 50]) log.write(`{"level":${level}}\n`);
  let text = "";
  await expect.poll(() => (text += pipe.read())).toBe('<6>{"level":30}\n<4>{"level":40}\n<3>{"level":50}\n');
});

test("lines in a terminal are for people", () => {
  const line = (details: object) =>
    `${JSON.stringify({ level: 30, time: 0, pid: 1, reqId: "x", msg: "text", ...details })}\n`;
  expect(terminalLine(line({ event: "accepted", reference: "R" }))).toMatch(/^\d\d:\d\d:\d\d text reference="R"\n$/);
  expect(terminalLine(line({ level: 50 }))).toMatch(/^\d\d:\d\d:\d\d Error: text\n$/);
});

import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { makeScratchFolder } from "./scratch-folder.ts";

/** A named pipe that only the test reads, on request. */
export async function makePipe() {
  const path = join(await makeScratchFolder(), "pipe");
  spawnSync("mkfifo", [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(fd));
  /** Repeats the call until the pipe would block. */
  const repeat = (call: () => void) => {
    try {
      for (;;) call();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  };
  return {
    path,
    /** Writes until the pipe is full. */
    fill: () => repeat(() => writeSync(fd, "\n")),
    /** The current content of the pipe. */
    read(): string {
      const buffer = Buffer.alloc(65_536);
      let text = "";
      repeat(() => {
        text += buffer.toString("latin1", 0, readSync(fd, buffer));
      });
      return text;
    },
  };
}

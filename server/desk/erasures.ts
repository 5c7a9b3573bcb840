import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../operator-error.ts";

/** A keyed hash of an address, a space and a time. */
const LINE = /^([\w-]{43}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;

/**
 * The erased people in the file that earlier versions wrote; none without it. Rejects with an OperatorError if a line is
 * not a complete record, because a person could be missing.
 */
export async function readOldErasures(dataDir: string): Promise<{ hash: string; at: Date }[]> {
  const path = join(dataDir, "erasures");
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    const problem = `${path} cannot be read (${error.code}), and nothing was restored`;
    throw new OperatorError({ problem, remedy: "make that file readable" });
  });
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  return lines.map((line, index) => {
    const [, hash = "", time = ""] = LINE.exec(line) ?? [];
    const at = new Date(time);
    if (hash !== "" && !Number.isNaN(at.getTime())) return { hash, at };
    const problem = `Line ${index + 1} of ${path} is not a complete record, and nothing was restored`;
    const remedy = "correct the line (43 characters, a space, a time such as 2026-01-31T09:00:00.000Z, and a line end)";
    throw new OperatorError({ problem, remedy: `${remedy}, or delete it if its erasure was interrupted` });
  });
}

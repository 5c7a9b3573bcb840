/**
 * An error as it may be logged: its kind and where it was thrown, never its message nor anything attached to it, which
 * may quote what a visitor sent (a row of the database, a body that is no JSON, a request that is no HTTP).
 */
export function plainError(error: Error): { type: string; message: string; stack: string } {
  const { code } = error as NodeJS.ErrnoException;
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return { type: error.name, message: typeof code === "string" ? code : "left out", stack: frames.join("\n") };
}

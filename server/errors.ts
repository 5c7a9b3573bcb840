import { type Advice, adviceLine } from "../contract/commands.ts";

/** An error that the operator can fix. Each program shows the advice in its own way; `message` is for a developer. */
export class OperatorError extends Error {
  override readonly name: string = "OperatorError";
  readonly advice: readonly Advice[];

  constructor(advice: Advice | readonly Advice[], options?: ErrorOptions) {
    const all = [advice].flat();
    super(all.map((one) => adviceLine(one)).join("\n"), options);
    this.advice = all;
  }
}

/** The error's name or code, without data: database messages may quote a row. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return [error.name, errorCode(error)].filter(Boolean).join(" ");
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

export function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && errorCode(error) !== undefined;
}

/** What a server does to which no connection can be opened, if the code of the error says it. */
export function connectionProblem(code: string | undefined, variable: string): string | undefined {
  if (code === "ECONNREFUSED") return "refuses connections";
  if (code === "ETIMEDOUT") return "does not answer";
  if (code === "ENOTFOUND") return `cannot be found: check its name in ${variable}`;
  return undefined;
}

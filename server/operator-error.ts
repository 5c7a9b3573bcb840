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

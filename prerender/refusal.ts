import { inspect } from "node:util";

/** Ends the build. Vite prints it without a stack trace, because the program is not at fault. */
export function refusal(message: string): Error {
  return Object.assign(new Error(message), { [inspect.custom]: () => message });
}

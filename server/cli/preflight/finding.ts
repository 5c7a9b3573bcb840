/** What one check found out. `fail`: do not launch like this. `warn`: it works, but somebody should know. */
export interface Finding {
  name: string;
  state: "ok" | "warn" | "fail";
  detail: string;
  /** What to do about it; empty when all is well. */
  remedy: string;
}

export function ok(name: string, detail: string): Finding {
  return { name, state: "ok", detail, remedy: "" };
}

export function warn(name: string, detail: string, remedy: string): Finding {
  return { name, state: "warn", detail, remedy };
}

export function fail(name: string, detail: string, remedy: string): Finding {
  return { name, state: "fail", detail, remedy };
}

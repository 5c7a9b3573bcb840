/** `session`: for this visit. `always`: on later visits too. Neither is ever sent to anybody. */
export type Memory = "session" | "always";

/** Does nothing where the browser lets a page remember nothing. */
export function remember(memory: Memory, name: string, value: string): void {
  try {
    storage(memory).setItem(name, value);
  } catch {}
}

export function recall(memory: Memory, name: string): string | null {
  try {
    return storage(memory).getItem(name);
  } catch {
    return null;
  }
}

function storage(memory: Memory): Storage {
  return memory === "always" ? localStorage : sessionStorage;
}

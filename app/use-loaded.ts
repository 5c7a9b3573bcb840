import { startTransition, useEffect, useState } from "react";

const RETRY_MS = 1000;

/** Loads once; not yet while `load` is null. After a failure, a change of `occasion` tries again. */
export function useLoaded<Result>(
  what: string,
  load: (() => Promise<Result>) | null,
  occasion?: unknown,
): { result?: Result; hasFailed?: boolean } {
  const [state, setState] = useState<{ result?: Result; hasFailed?: boolean }>({});
  const isWanted = load !== null && state.result === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: neither a failure alone nor a new function tries again
  useEffect(() => {
    if (!isWanted || !load) return;
    let isCurrent = true;
    tryTwice(load)
      .then((result) => ({ result }))
      .catch((error: unknown) => {
        if (isCurrent) console.error(`${what} did not load.`, error);
        return { hasFailed: true };
      })
      // Rendering 250 countries at once would block a slow phone.
      .then((next) => isCurrent && startTransition(() => setState(next)));
    return () => {
      isCurrent = false;
    };
  }, [isWanted, what, occasion]);
  return state;
}

/** Waits before it tries again: Firefox reports requests as failed when the visitor leaves the page. */
async function tryTwice<Result>(load: () => Promise<Result>): Promise<Result> {
  try {
    return await load();
  } catch {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    return load();
  }
}

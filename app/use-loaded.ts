import { startTransition, useEffect, useState } from "react";

const RETRY_MS = 1000;

/** Loads once; not yet while `load` is null. After a failure, a change of `occasion` tries again. */
export function useLoaded<Result>(
  what: string,
  load: (() => Promise<Result>) | null,
  occasion?: unknown,
): Result | "failed" | null {
  const [loaded, setLoaded] = useState<Result | "failed" | null>(null);
  const isWanted = load !== null && (loaded === null || loaded === "failed");
  // biome-ignore lint/correctness/useExhaustiveDependencies: neither a failure alone nor a new function tries again
  useEffect(() => {
    if (!isWanted || !load) return;
    let isCurrent = true;
    tryTwice(load)
      .catch((error: unknown) => {
        if (isCurrent) console.error(`${what} did not load.`, error);
        return "failed" as const;
      })
      // Rendering 250 countries at once would block a slow phone.
      .then((result) => isCurrent && startTransition(() => setLoaded(result)));
    return () => {
      isCurrent = false;
    };
  }, [isWanted, what, occasion]);
  return loaded;
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

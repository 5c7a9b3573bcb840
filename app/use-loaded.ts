import { startTransition, useEffect, useState } from "react";

const RETRY_MS = 1000;

/** Loads once. After a failure, a change of `occasion` tries again. An empty address means: not needed yet. */
export function useLoaded<Result>(
  what: string,
  url: string,
  load: (url: string) => Promise<Result>,
  occasion?: unknown,
): Result | "failed" | null {
  const [loaded, setLoaded] = useState<Result | "failed" | null>(null);
  const isWanted = url !== "" && (loaded === null || loaded === "failed");
  // biome-ignore lint/correctness/useExhaustiveDependencies: a failure alone must not try again
  useEffect(() => {
    if (!isWanted) return;
    let isCurrent = true;
    tryTwice(() => load(url))
      .catch((error: unknown) => {
        if (isCurrent) console.error(`${what} did not load.`, error);
        return "failed" as const;
      })
      // Rendering 250 countries at once would block a slow phone.
      .then((result) => isCurrent && startTransition(() => setLoaded(result)));
    return () => {
      isCurrent = false;
    };
  }, [isWanted, what, url, load, occasion]);
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

export async function loadJson(url: string) {
  const response = await fetch(url, { credentials: "omit" });
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`);
  return response.json();
}

/** What an alert says. Chat services show `text`; programs may read the rest. Nothing in it is a visitor's. */
export interface AlertFacts {
  text: string;
  troubles: readonly string[];
  /** These three are `null` when the store does not answer. */
  queued: number | null;
  oldestAgeSeconds: number | null;
  failed: number | null;
}

/** Resolves once the service took the alert. Its errors name no address: that may hold a password or be one. */
export async function postAlert(alertUrl: string, facts: AlertFacts, signal: AbortSignal): Promise<void> {
  const { url, authorization } = splitCredentials(alertUrl);
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(authorization && { authorization }) },
    body: JSON.stringify(facts),
    // A redirected post would arrive as a GET, without its words.
    redirect: "manual",
    signal,
  }).catch((error: Error) => {
    throw new Error(failureCode(error));
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`status ${response.status}`);
}

/** fetch refuses addresses that hold credentials. */
function splitCredentials(address: string): { url: URL; authorization: string | null } {
  const url = new URL(address);
  if (url.username === "" && url.password === "") return { url, authorization: null };
  const credentials = [url.username, url.password].map(decodeURIComponent).join(":");
  url.username = "";
  url.password = "";
  return { url, authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** A word such as ECONNREFUSED or TimeoutError. */
function failureCode({ name, cause }: Error): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : name;
}

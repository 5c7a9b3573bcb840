import type { BuildSettings } from "../../../contract/build-settings.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const PATIENCE_MS = 10_000;

/** Whether visitors get our home page at the site's address, and whether the server behind it can take messages. */
export async function checkSite(
  { siteUrl, apiBase }: Pick<BuildSettings, "siteUrl" | "apiBase">,
  homePage: string | null,
): Promise<Finding[]> {
  return Promise.all([checkHomePage(siteUrl, homePage), checkReady(apiBase || siteUrl)]);
}

async function checkHomePage(siteUrl: string, homePage: string | null): Promise<Finding> {
  const answer = await get(`${siteUrl}/`);
  if ("problem" in answer) return unreachable("home page", siteUrl, answer.problem);
  if (answer.status !== 200) return unreachable("home page", siteUrl, `status ${answer.status}`);
  if (answer.text === homePage) return ok("home page", `${siteUrl} shows this build`);
  return warn(
    "home page",
    `${siteUrl} answers, but with another page than this build's`,
    "restart the server after a build; with a CDN, upload dist/ or empty its cache",
  );
}

async function checkReady(base: string): Promise<Finding> {
  const answer = await get(`${base}/readyz`);
  if ("problem" in answer) return unreachable("server", base, answer.problem);
  if (answer.status === 200 && answer.text.includes('"ready"')) return ok("server", `${base} can take messages`);
  if (answer.status === 503) {
    return fail("server", `${base} runs, but cannot take messages`, "look at its log; is the database running?");
  }
  return unreachable("server", base, `/readyz answers with status ${answer.status}`);
}

function unreachable(name: string, url: string, problem: string): Finding {
  return fail(name, `${url}: ${problem}`, "is the server running, the proxy set up, and the name in DNS?");
}

async function get(url: string): Promise<{ status: number; text: string } | { problem: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    return { problem: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "no answer";
  if (error.name === "TimeoutError") return `no answer within ${PATIENCE_MS / 1000} s`;
  const { cause } = error;
  return cause instanceof Error && "code" in cause ? `no connection (${String(cause.code)})` : "no connection";
}

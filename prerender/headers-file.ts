import { type BuildManifest, type BuiltFile, FAILURE_PAGE, NOT_FOUND_PAGE } from "../contract/build-manifest.ts";
import { CACHE_CONTROL, NOTHING_POLICY, securityHeaders } from "../contract/response-headers.ts";

/** Read by Netlify, Cloudflare Pages and their like; they do not serve it, nor does our own server. */
export const HEADERS_FILE = "_headers";

const POLICY = "content-security-policy";
const STAND_INS: readonly string[] = [NOT_FOUND_PAGE, FAILURE_PAGE];

type Headers = Readonly<Record<string, string>>;

/**
 * Tells a static host to send what our own server sends. Where two rules meet on a path some hosts join the values
 * and others take the last, so no header stands in two rules that meet: what differs is said file by file.
 */
export function headersFile({ settings, files }: BuildManifest): string {
  const { [POLICY]: _, ...everywhere } = securityHeaders(settings.siteUrl);
  const ofFiles = files.flatMap((file) => pathsOf(file).map((path) => rule(path, headersOf(file))));
  return [rule("/*", everywhere), ...ofFiles].join("\n");
}

/** Hosts differ in whether a folder's page is at its name or at its name with a slash. */
function pathsOf({ url, file }: BuiltFile): string[] {
  return file.endsWith("/index.html") ? [url, `${url}/`] : [url];
}

function headersOf({ file, cache, policy }: BuiltFile): Headers {
  return {
    [POLICY]: policy ?? NOTHING_POLICY,
    "cache-control": CACHE_CONTROL[cache],
    ...(STAND_INS.includes(file) && { "x-robots-tag": "noindex" }),
  };
}

function rule(path: string, headers: Headers): string {
  const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}\n`);
  return `${path}\n${lines.join("")}`;
}

import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BuildManifest, manifestFile, publicDir } from "../contract/build-manifest.ts";
import { securityHeaders } from "../contract/response-headers.ts";
import { loadBuild } from "../server/http/build-files.ts";
import { sentQuery } from "../server/http/receipt.ts";
import { type AppUnderTest, openApp, type Question } from "./support/app.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { untilEnd } from "./support/until-end.ts";

const BODY = { name: "Ada", email: "ada@example.com", phone: "1", country: "", message: "Hello" };
const FORM = "application/x-www-form-urlencoded";
const build = loadBuild("dist");
const contactTag = build.files.get("/contact")?.variants.identity.etag ?? "";
const film = [...build.files.keys()].find((url) => url.endsWith(".mp4")) ?? "";

let subject: AppUnderTest;
beforeAll(async () => {
  subject = await openApp();
  subject.app.addHook("onRequest", async ({ headers }) => {
    if (headers["x-fail"]) throw new Error("secret detail");
  });
});
afterAll(() => subject.close());

const FAILING: Question = { url: "/healthz", headers: { "x-fail": "1" } };
const post = (payload: object | string, headers: Record<string, string> = {}): Question => ({
  method: "POST",
  url: "/send-email",
  payload,
  headers,
});

test.each<[what: string, options: Question, status: number]>([
  ["a page", { url: "/contact" }, 200],
  ["a page that the client holds", { url: "/contact", headers: { "if-none-match": contactTag } }, 304],
  ["a page after a post", { url: "/contact?sent" }, 200],
  ["Coming Soon", { url: "/no-such-page" }, 200],
  ["a path that cannot be decoded", { url: "/%zz" }, 200],
  ["a part of it", { url: film, headers: { range: "bytes=0-1" } }, 206],
  ["a missing file", { url: "/assets/none.js" }, 404],
  ["a refused method", { method: "DELETE", url: "/" }, 405],
  ["the server's failure", FAILING, 500],
  ["the health", { url: "/healthz" }, 200],
  ["a message taken", post(BODY), 200],
  ["a message refused", post({}), 422],
  ["a body that is not JSON", post("{", { "content-type": "application/json" }), 400],
  ["a body too long", post({ ...BODY, message: "x".repeat(70_000) }), 413],
  ["a redirect", post(String(new URLSearchParams(BODY)), { "content-type": FORM }), 303],
  ["a refused form", post("name=", { "content-type": FORM }), 422],
  ["another site's post", post(BODY, { origin: "https://evil.example" }), 403],
  ["a preflight", { method: "OPTIONS", url: "/send-email" }, 204],
])("every answer has every header: %s", async (_what, options, status) => {
  const query = sentQuery("BC-7K3Q-9M", subject.store.secret);
  const answer = await subject.ask({ ...options, url: options.url.replace("?sent", `?${query}`) });
  expect(answer.statusCode).toBe(status);
  const { "content-security-policy": nothing, ...rest } = securityHeaders("http://localhost:3000");
  expect(answer.headers).toMatchObject(rest);
  const isPage = answer.headers["content-type"]?.toString().startsWith("text/html") || status === 304;
  if (!isPage) expect(answer.headers["content-security-policy"]).toBe(nothing);
  else expect(answer.headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self'/);
  expect(answer.headers["content-security-policy"]).not.toContain("unsafe");
  expect(answer.headers).not.toHaveProperty("strict-transport-security");
});

test("the headers are these", () => {
  expect(securityHeaders("https://www.example.com")).toEqual({
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": expect.stringMatching(/camera=\(\).*geolocation=\(\).*microphone=\(\).*payment=\(\)/),
    "referrer-policy": "strict-origin-when-cross-origin",
    "strict-transport-security": "max-age=31536000",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
});

test("only a site that was built for HTTPS sends Strict-Transport-Security", async () => {
  const folder = join(await makeScratchFolder(), "dist");
  await mkdir(folder);
  await symlink(resolve(publicDir("dist")), publicDir(folder));
  const manifest = JSON.parse(readFileSync(manifestFile("dist"), "utf8")) as BuildManifest;
  manifest.settings.siteUrl = "https://www.example.com";
  await writeFile(manifestFile(folder), JSON.stringify(manifest));
  const secure = await untilEnd(openApp({}, {}, { build: loadBuild(folder) }));
  for (const url of ["/", "/healthz", "/%zz", film]) {
    const { headers } = await secure.ask(url);
    expect(headers["strict-transport-security"]).toBe("max-age=31536000");
  }
  const { headers } = await subject.ask({ url: "/", headers: { "x-forwarded-proto": "https" } });
  expect(headers).not.toHaveProperty("strict-transport-security");
});

/**
 * Reads a `_headers` file like a static host, and returns a function for the headers of a path: those of every matching
 * rule. Hosts disagree on a header in two matching rules, so that is an error here.
 */
function parseHeadersFile(text: string) {
  const rules = text.split(/^(?=\S)/m).map((rule) => {
    const [glob = "", ...lines] = rule.trimEnd().split("\n");
    const headers = lines.map((line) => /^\s+([\w-]+):\s*(.+)$/.exec(line)?.slice(1) ?? [line]);
    return { pattern: new RegExp(`^${glob.split("*").map(RegExp.escape).join(".*")}$`), headers };
  });
  return (path: string): Record<string, string> => {
    const found = rules.filter(({ pattern }) => pattern.test(path)).flatMap(({ headers }) => headers);
    const named = Object.fromEntries(found.map(([name = "", value = ""]) => [name.toLowerCase(), value]));
    expect(Object.keys(named), path).toHaveLength(found.length);
    return named;
  };
}

/** Headers of a single response, which do not belong to the file. */
const OF_THE_TRANSFER = ["content-type", "content-length", "etag", "vary", "accept-ranges", "date", "connection"];

test("the file for static hosts has the server's headers, except that the failure page may be cached", async () => {
  const headersFor = parseHeadersFile(readFileSync("dist/site/_headers", "utf8"));
  for (const { url, file } of build.files.values()) {
    const isFailure = url === "/500.html";
    const { headers } = await subject.ask(isFailure ? FAILING : url);
    const lasting = Object.entries(headers).filter(([name]) => !OF_THE_TRANSFER.includes(name));
    const { "x-robots-tag": robots, ...others } = headersFor(url);
    const expected = isFailure ? { ...others, "cache-control": "no-store" } : headersFor(url);
    expect(Object.fromEntries(lasting), url).toEqual(expected);
    if (isFailure) expect(robots).toBe("noindex");
    if (file.endsWith("/index.html")) expect(headersFor(`${url}/`)).toEqual(headersFor(url));
  }
});

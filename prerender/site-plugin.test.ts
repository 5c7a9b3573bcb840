import { createServer as createHttpServer } from "node:http";
import { relative } from "node:path";
import { resolveConfig, type ViteDevServer } from "vite";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { SOURCES } from "../tests/support/build-if-stale.ts";
import { textOf } from "../tests/support/html.ts";
import { openPort } from "../tests/support/raw-http.ts";
import { contextOf, openVite } from "../tests/support/vite-server.ts";
import config from "../vite.config.ts";
import { loadRenderer } from "./load-renderer.ts";
import { drawIcons } from "./pictures.ts";

vi.mock("./pictures.ts", { spy: true });

let server: ViteDevServer;
beforeAll(async () => {
  server = await openVite();
});
afterAll(() => server.close());

/** The page, built with these variables. */
async function privacyPolicy(env: Record<string, string>): Promise<string> {
  const { renderPath } = await loadRenderer(server);
  return (await renderPath("/privacy", contextOf(env))).replaceAll("<!-- -->", "");
}

const OWN_HOST = { SITE_URL: "https://www.a.example", API_BASE: "https://www.a.example/api" };
const OTHER_HOSTS = { ...OWN_HOST, API_BASE: "https://api.a.example", COUNTRIES_URL: "https://b.example/all" };
test.each<[env: Record<string, string>, says: string[], neverSays?: RegExp]>([
  [
    {},
    [
      "Delivered messages are deleted automatically after 30 days.",
      "Messages that could not be delivered are deleted automatically after 90 days.",
      "Messages held back as suspected spam are deleted automatically after 14 days.",
      "Copies in our backups are deleted up to 14 days later.",
      "a log, which is kept for up to 15 days.",
      "we delete nothing before our team has been informed",
      "While a message waits for delivery, we keep it. If you asked us to restrict a message, we keep it until",
      "It makes no third-party requests",
    ],
    /passed on to the system/,
  ],
  [
    { RETENTION: "delivered=36h,failed=keep,quarantined=7d" },
    [
      "Delivered messages are deleted automatically after 36 hours.",
      "Messages that could not be delivered are kept until we delete them by hand.",
      "Messages held back as suspected spam are deleted automatically after 7 days.",
    ],
  ],
  [OWN_HOST, ["It makes no third-party requests"]],
  [OTHER_HOSTS, ["which sees your network address: api.a.example, b.example."], /third-party requests/],
  [
    { HOOK_URL: "https://crm.example.com/hook" },
    ["is also passed on to the system in which we keep our correspondence"],
    /crm\.example\.com/,
  ],
])("the privacy policy built with %j is true", async (env, says, neverSays) => {
  const policy = textOf(await privacyPolicy(env));
  for (const words of says) expect(policy).toContain(words);
  if (neverSays) expect(policy).not.toMatch(neverSays);
});

test("the development server draws the icons when it starts, not on a request", async () => {
  vi.mocked(drawIcons).mockClear();
  const http = createHttpServer(server.middlewares);
  onTestFinished(() => void http.close());
  const origin = `http://127.0.0.1:${await openPort(http)}`;
  for (const path of ["/favicon.ico", "/favicon-192.png", "/favicon.ico"]) {
    const response = await fetch(origin + path);
    expect((await response.bytes()).length).toBeGreaterThan(500);
  }
  expect(drawIcons).not.toHaveBeenCalled();
});

test("the tests build the site again when one of its sources has changed", async () => {
  await privacyPolicy({});
  const { configFileDependencies } = await resolveConfig({ logLevel: "silent" }, "build");
  const loaded = server.environments.ssr?.moduleGraph.fileToModulesMap.keys() ?? [];
  const files = [...configFileDependencies, ...loaded]
    .map((file) => relative(".", file))
    .filter((file) => !/^(\.\.|node_modules)\/|\0/.test(file));
  expect(files).toContain("docs/footprint.md");
  expect(files.filter((file) => !SOURCES.some((source) => file === source || file.startsWith(`${source}/`)))).toEqual(
    [],
  );
});

test("a bad build variable stops the build with one clear line", async () => {
  vi.stubEnv("SITE_URL", "nowhere");
  onTestFinished(() => void vi.unstubAllEnvs());
  const printed = vi.spyOn(console, "error").mockImplementation(() => {});
  vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`left with ${code}`);
  });
  await expect(resolveConfig({ ...config, configFile: false }, "build")).rejects.toThrow("left with 1");
  expect(printed.mock.calls).toEqual([["SITE_URL is not the address of a site; e.g. https://www.example.com"]]);
});

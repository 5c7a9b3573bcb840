import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { relative } from "node:path";
import { createServer, resolveConfig, type ViteDevServer } from "vite";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { RenderContext } from "../app/screen.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { SOURCES } from "../tests/support/build-if-stale.ts";
import config from "../vite.config.ts";
import { loadRenderer } from "./load-renderer.ts";
import { drawIcons } from "./pictures.ts";

vi.mock("./pictures.ts", { spy: true });

let server: ViteDevServer;
beforeAll(async () => {
  server = await createServer({
    ...config,
    configFile: false,
    logLevel: "warn",
    server: { middlewareMode: true, ws: false, watch: null },
  });
});
afterAll(() => server.close());

/** The page, built with these variables. */
async function privacyPolicy(env: Record<string, string>): Promise<string> {
  const { renderPath } = await loadRenderer(server);
  const { settings } = parseBuildSettings(env);
  const scripts: RenderContext["scripts"] = { film: { url: "/film.js" }, contact: { url: "/contact.js" } };
  return renderPath("/privacy", {
    settings,
    scripts,
    electricityUrl: "/assets/electricity.json",
    isSavingData: false,
  });
}

/** What it says about the storage of messages. */
async function promisedPeriods(env: Record<string, string>): Promise<string[]> {
  const html = await privacyPolicy(env);
  const [, list = ""] = /How long they are stored:<\/p>\s*<ul>(.+?)<\/ul>/s.exec(html) ?? [];
  return [...list.matchAll(/<li>(.+?)<\/li>/g)].map(([, item = ""]) => item.replaceAll("<!-- -->", ""));
}

test("the privacy policy promises the periods that RETENTION has by default", async () => {
  expect(await promisedPeriods({})).toEqual([
    "Delivered messages are deleted automatically after 30 days.",
    "Messages that could not be delivered are deleted automatically after 90 days.",
    "Messages held back as suspected spam are deleted automatically after 14 days.",
  ]);
});

test("the privacy policy says that it makes no third-party requests, or names whom a page asks", async () => {
  expect(await privacyPolicy({})).toContain("It makes no third-party requests");
  const split = {
    SITE_URL: "https://www.a.example",
    API_BASE: "https://api.a.example",
    COUNTRIES_URL: "https://b.example/all",
  };
  const policy = await privacyPolicy(split);
  expect(policy).toContain("which sees your network address: api.a.example, b.example.");
  expect(policy).not.toContain("third-party requests");
  const own = { SITE_URL: "https://www.a.example", API_BASE: "https://www.a.example/api" };
  expect(await privacyPolicy(own)).toContain("It makes no third-party requests");
});

test("the privacy policy says how long copies and logs are kept, and what has no end", async () => {
  const policy = (await privacyPolicy({})).replaceAll("<!-- -->", "");
  expect(policy).toContain("Copies in our backups are deleted up to 14 days later.");
  expect(policy).toContain("a log, which is kept for up to 14 days.");
  expect(policy).toContain("we delete nothing before our team has been informed");
  expect(policy).toContain("waiting for delivery until it is delivered, and a message that you asked us to restrict");
});

test("the privacy policy promises the periods of the RETENTION it is built with", async () => {
  expect(await promisedPeriods({ RETENTION: "delivered=36h,failed=keep,quarantined=7d" })).toEqual([
    "Delivered messages are deleted automatically after 36 hours.",
    "Messages that could not be delivered are kept until we delete them by hand.",
    "Messages held back as suspected spam are deleted automatically after 7 days.",
  ]);
});

test("the privacy policy says that messages are passed on if it is built with HOOK_URL, and not where to", async () => {
  const built = await privacyPolicy({ HOOK_URL: "https://crm.example.com/hook" });
  expect(built).toContain("is also passed on to the system in which we keep our correspondence");
  expect(built).not.toContain("crm.example.com");
  expect(await privacyPolicy({})).not.toContain("passed on to the system");
});

test("the development server draws the icons when it starts, and none on a request", async () => {
  vi.mocked(drawIcons).mockClear();
  const http = createHttpServer(server.middlewares).listen(0, "127.0.0.1");
  onTestFinished(() => void http.close());
  await once(http, "listening");
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  for (const path of ["/favicon.ico", "/favicon-192.png", "/favicon.ico"]) {
    const response = await fetch(origin + path);
    expect((await response.bytes()).length).toBeGreaterThan(500);
  }
  expect(drawIcons).not.toHaveBeenCalled();
});

test("the tests build the site again when any file has changed that it is made of", async () => {
  await promisedPeriods({});
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

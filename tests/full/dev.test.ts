import { once } from "node:events";
import { mkdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { copyProject } from "../support/project-copy.ts";
import { runCli } from "../support/run-cli.ts";
import { type RunningProgram, startProgram } from "../support/run-server.ts";
import { untilEnd } from "../support/until-end.ts";

/** Runs `npm run dev` as a terminal does, in a separate process group. */
async function startDev(cwd: string, ...args: string[]) {
  const dev = await untilEnd(startProgram(["setsid", "node", "scripts/dev.ts", ...args], { cwd, env: { PORT: "0" } }));
  return { ...dev, origin: `http://localhost:${dev.port}` };
}

/** What Vite tells a page from now on. */
async function listenToVite(origin: string) {
  const client = await (await fetch(`${origin}/@vite/client`)).text();
  const [, token] = /wsToken = "(.+?)"/.exec(client) ?? [];
  const socket = new WebSocket(`${origin.replace("http", "ws")}/?token=${token}`, "vite-hmr");
  onTestFinished(() => socket.close());
  const told: string[] = [];
  socket.onmessage = ({ data }) => told.push(JSON.parse(data).type);
  await once(socket, "open");
  return told;
}

/** Presses Ctrl-C. The output closes when the last of its processes ends. */
async function expectStop({ process: { pid = Number.NaN }, process: dev }: RunningProgram) {
  process.kill(-pid, "SIGINT");
  expect(await once(dev, "close")).toEqual([0, null]);
}

async function post(origin: string, message: string): Promise<number> {
  const { status } = await fetch(`${origin}/send-email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify({ name: "Ada", email: "ada@example.com", phone: "1", country: "", message }),
  });
  return status;
}

test("runs beside the site, accepts messages without limits, reloads pages only after source changes, and stops with Ctrl-C", async () => {
  // Messages go to data/ and data-dev/ in the copy, where Vite would watch them.
  const copy = await copyProject("dist");
  const site = await untilEnd(startProgram(["node", "server/main.ts"], { cwd: copy, env: { PORT: "0" } }));
  const { origin, ...dev } = await startDev(copy);
  expect((await fetch(`${origin}/readyz`)).ok).toBe(true);
  expect(await (await fetch(`${origin}/contact`)).text()).toContain("Send us a Message");
  const told = await listenToVite(origin);

  for (let count = 1; count <= 6; count += 1) expect(await post(origin, `Message ${count}`)).toBe(200);
  expect(await post(dev.url, "By the other name of this machine")).toBe(200);
  expect(await post(site.url, "To the site itself")).toBe(200);
  const countIn = async (folder: string) =>
    JSON.parse((await runCli({ DATA_DIR: join(copy, folder) }, "list", "--json")).out).length;
  expect([await countIn("data"), await countIn("data-dev")]).toEqual([1, 7]);

  await utimes(join(copy, "dist/site/index.html"), new Date(), new Date());
  await utimes(join(copy, "app/screens/contact.tsx"), new Date(), new Date());
  await expect.poll(() => told, { timeout: 10_000 }).toContain("full-reload");
  expect(told.filter((type) => type === "full-reload")).toHaveLength(1);

  expect(dev.output()).toContain("to read messages: DATA_DIR=data-dev npm run inbox - ");
  await expectStop(dev);
});

test("with --inbox, shows the inbox's page without a build, reloads it after an edit, and keeps its token", async () => {
  const copy = await copyProject("desk", "vite.inbox.config.ts");
  const dataDir = join(copy, "data-dev");
  await mkdir(dataDir);
  await (await openStoreInProcess({ dataDir, databaseUrl: null })).close();
  const { origin, ...dev } = await startDev(copy, "--inbox");
  await expect.poll(dev.output).toContain("#");
  const [, token] = /^Inbox: http:.+#(\S+)$/m.exec(dev.output()) ?? [];
  const statusOf = async (headers: Record<string, string>) =>
    (await fetch(`${origin}/api/operations/status`, { headers: { origin, ...headers } })).status;
  const authorization = `Bearer ${token}`;

  const page = await fetch(`${origin}/message/BC-0000-00`, { headers: { accept: "text/html" } });
  expect(await page.text()).toContain('src="/main.tsx"');
  expect(await (await fetch(`${origin}/assets/icon.svg`)).text()).toMatch(/^<svg/);
  const told = await listenToVite(origin);
  // Vite knows of a file once a page has asked for it.
  for (const name of ["main.tsx", "api.ts"])
    expect(await (await fetch(`${origin}/${name}`)).text()).toContain("obtainToken");
  expect(await statusOf({ authorization })).toBe(200);
  expect(await statusOf({})).toBe(401);
  expect(await statusOf({ authorization, "sec-fetch-site": "cross-site" })).toBe(403);

  await utimes(join(copy, "desk/page/main.tsx"), new Date(), new Date());
  await expect.poll(() => told).toContain("full-reload");
  expect(await statusOf({ authorization })).toBe(200);
  await expectStop(dev);
});

test("starts without a build, and shows new, changed and deleted pages and the problems of a page at once", async () => {
  const copy = await copyProject();
  const file = join(copy, "app/pages/news/today.md");
  const write = (title: string) => writeFile(file, `---\ntitle: ${title}\ndescription: A page.\n---\n\nText`);
  await mkdir(dirname(file), { recursive: true });
  await write("First words");
  const { origin, output } = await startDev(copy);
  expect(await (await fetch(`${origin}/news/today`)).text()).toContain("<h1>First words</h1>");
  expect(await post(origin, "Hello")).toBe(200);

  const shown = () => expect.poll(async () => (await fetch(`${origin}/news/today`)).text(), { timeout: 20_000 });
  await write("''");
  await shown().toContain("app/pages/news/today.md:2: The title is empty.");
  expect((await fetch(`${origin}/contact`)).status).toBe(500);
  await write("Greener words");
  await shown().toContain("<h1>Greener words</h1>");
  await expect.poll(output, { timeout: 20_000 }).toContain("news/today.md:2: Greener words (needs an entry)");
  await rm(file);
  await shown().toContain("<h1>Coming Soon</h1>");

  const manifest = async () => (await fetch(`${origin}/site.webmanifest`)).text();
  expect(await manifest()).toContain('"Brighter Carbon"');
  const settings = join(copy, "app/site.ts");
  await writeFile(
    settings,
    (await readFile(settings, "utf8")).replace('brand: "Brighter Carbon"', 'brand: "North Hill"'),
  );
  await expect.poll(manifest, { timeout: 20_000 }).toContain('"North Hill"');
});

import { once } from "node:events";
import { mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyProject } from "../support/project-copy.ts";
import { runCli } from "../support/run-cli.ts";
import { startProgram } from "../support/run-server.ts";
import { untilEnd } from "../support/until-end.ts";

/** Runs `npm run dev` as a terminal does, in a separate process group. */
async function startDev(cwd: string) {
  const dev = await untilEnd(startProgram(["setsid", "node", "scripts/dev.ts"], { cwd, env: { PORT: "0" } }));
  return { ...dev, origin: `http://localhost:${dev.port}` };
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
  const copy = await copyProject("dist", "dist.json");
  const site = await untilEnd(startProgram(["node", "server/main.ts"], { cwd: copy, env: { PORT: "0" } }));
  const { origin, ...dev } = await startDev(copy);
  expect((await fetch(`${origin}/readyz`)).ok).toBe(true);
  expect(await (await fetch(`${origin}/contact`)).text()).toContain("Send us a Message");
  // A page's connection to Vite.
  const client = await (await fetch(`${origin}/@vite/client`)).text();
  const [, token] = /wsToken = "(.+?)"/.exec(client) ?? [];
  const socket = new WebSocket(`${origin.replace("http", "ws")}/?token=${token}`, "vite-hmr");
  onTestFinished(() => socket.close());
  const told: string[] = [];
  socket.onmessage = ({ data }) => told.push(JSON.parse(data).type);
  await once(socket, "open");

  for (let count = 1; count <= 6; count += 1) expect(await post(origin, `Message ${count}`)).toBe(200);
  expect(await post(dev.url, "By the other name of this machine")).toBe(200);
  expect(await post(site.url, "To the site itself")).toBe(200);
  const countIn = async (folder: string) =>
    JSON.parse((await runCli({ DATA_DIR: join(copy, folder) }, "list", "--json")).out).length;
  expect([await countIn("data"), await countIn("data-dev")]).toEqual([1, 7]);

  await utimes(join(copy, "dist/index.html"), new Date(), new Date());
  await utimes(join(copy, "app/screens/contact.tsx"), new Date(), new Date());
  await expect.poll(() => told, { timeout: 10_000 }).toContain("full-reload");
  expect(told.filter((type) => type === "full-reload")).toHaveLength(1);

  expect(dev.output()).toContain("to read messages: DATA_DIR=data-dev npm run inbox - ");
  process.kill(-(dev.process.pid ?? Number.NaN), "SIGINT");
  // The output closes when the last of its processes ends.
  expect(await once(dev.process, "close")).toEqual([0, null]);
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
});

// `npm run dev`: Vite on PORT renders the pages on every request, and forwards messages to the real server, which runs
// in a separate process. With `--inbox` it renders the inbox's page, and forwards its calls to a real inbox.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { relative } from "node:path";
import { createInterface } from "node:readline";
import { inspect } from "node:util";
import { createBuilder, createServer as createVite, type InlineConfig, type ProxyOptions } from "vite";
import { manifestFile } from "../contract/build-manifest.ts";
import { programName } from "../contract/commands.ts";
import { type Config, parseConfig } from "../server/config.ts";
import { OperatorError } from "../server/errors.ts";

if (existsSync(".env")) process.loadEnvFile();
const config = readConfig();
// A separate folder, so that it can run beside `npm start`: only one server can use a folder.
const dataDir = `${config.dataDir}-dev`;
const MESSAGES_COMMAND = `DATA_DIR=${relative("", dataDir)} npm run messages --`;
const isInbox = process.argv.includes("--inbox");
// Beside the site.
const wantedPort = isInbox && config.port > 0 ? config.port + 1 : config.port;

// Listens before anything else starts, so that it fails at once if the port is in use.
const http = createServer(async (request, response) => (await vite).middlewares(request, response));
try {
  http.listen(wantedPort, config.host);
  await once(http, "listening");
} catch (error) {
  exit(explain(error));
}
const address = `localhost:${(http.address() as AddressInfo).port}`;
const vite = (isInbox ? startInbox() : startSite()).catch((error) =>
  exit(error instanceof OperatorError ? error.message : inspect(error)),
);

function serveHot(proxy: Record<string, ProxyOptions>, options: InlineConfig = {}) {
  const ignored = (path: string) => [config.dataDir, dataDir].some((dir) => `${path}/`.startsWith(`${dir}/`));
  return createVite({
    ...options,
    server: { middlewareMode: true, hmr: { server: http }, proxy, watch: { ignored } },
  });
}

async function startSite() {
  // The server takes another port at each start, and tells it. Nothing listens on port 1.
  const api = new URL("http://127.0.0.1:1");
  // An object: with a string, Vite would replace the Host header, which the server compares with the Origin.
  const target = { target: api };
  const site = await serveHot({ "/send-email": target, "/healthz": target, "/readyz": target });
  // The server process needs a build to start, but the developer sees Vite's pages.
  if (!existsSync(manifestFile("dist"))) {
    const builder = await createBuilder({ mode: "draft", logLevel: "warn" });
    await builder.buildApp();
  }
  const child = spawn(process.execPath, ["--watch", "--watch-preserve-output", "server/main.ts"], {
    env: {
      RATE_LIMIT: "off",
      HOURLY_LIMIT: "off",
      MESSAGES_COMMAND,
      ...process.env,
      DATA_DIR: dataDir,
      HOST: "127.0.0.1",
      PORT: "0",
    },
    stdio: ["inherit", "pipe", "inherit", "ipc"],
  });
  // After each restart. Only the address of this process is for people, so it replaces the server's own in the log.
  child.on("message", ({ port }: { port: number }) => {
    api.port = String(port);
  });
  if (child.stdout) {
    createInterface(child.stdout).on("line", (line) => console.log(line.replace(`localhost:${api.port}`, address)));
  }
  let isStopping = false;
  onStop(() => {
    isStopping = true;
    child.kill();
  });
  child.once("exit", () => (isStopping ? process.exit(0) : exit("The API server process has ended.")));
  process.once("exit", () => child.kill());
  console.log(`Development server on http://${address}, with hot reload`);
  return site;
}

async function startInbox() {
  if (!config.databaseUrl && !existsSync(dataDir))
    exit(`There are no messages in ${dataDir}; fill it with samples: npm run sample`);
  // Loaded on demand, because the site needs none of it.
  const { openDesk } = await import("../desk/desk.ts");
  const { startInbox } = await import("../desk/browser/serve.ts");
  const owner = { program: programName({ MESSAGES_COMMAND, ...process.env }), account: "developer" };
  const desk = await openDesk({ ...config, dataDir }, owner);
  // The folder of the sources, because only Vite answers for the page.
  const inbox = await startInbox({ desk, filesDir: "desk/page", port: 0, onDefect: console.error });
  onStop(async () => {
    await inbox.close();
    await desk.store.close();
    process.exit(0);
  });
  // The inbox accepts only its own host and origin. It still refuses a call that another site caused, by the browser's
  // Sec-Fetch-Site, and one without the token.
  const origin = `http://127.0.0.1:${inbox.port}`;
  const proxy = { "/api/": { target: origin, changeOrigin: true, headers: { origin } } };
  const page = await serveHot(proxy, { configFile: "vite.inbox.config.ts" });
  console.log(`Development server on http://${address} with hot reload`);
  console.log(`Inbox: http://${address}/${new URL(inbox.url).hash}`);
  return page;
}

/** Only once: npm forwards the terminal's Ctrl-C, so it arrives twice, and a second signal may end a server at once. */
function onStop(stop: () => void): void {
  let isStopping = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (!isStopping) stop();
      isStopping = true;
    });
  }
}

function readConfig(): Config {
  try {
    return parseConfig(process.env);
  } catch (error) {
    if (error instanceof OperatorError) exit(error.message);
    throw error;
  }
}

function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "EADDRINUSE"
    ? `Port ${wantedPort} is in use; stop the other program, or run e.g. PORT=3001 npm run dev`
    : `Cannot listen on ${config.host}:${config.port} (${message})`;
}

function exit(problem: string): never {
  console.error(problem);
  process.exit(1);
}

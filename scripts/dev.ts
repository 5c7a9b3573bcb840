// `npm run dev`: Vite on PORT renders the pages on every request, and passes messages on to the real server, a process of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { relative } from "node:path";
import { createInterface } from "node:readline";
import { createBuilder, createServer as createVite } from "vite";
import { manifestFile } from "../contract/build-manifest.ts";
import { type Config, ConfigError, parseConfig } from "../server/config.ts";
import { findFreePort } from "./run-server.ts";

const config = readConfig();
// A folder of its own, so that it runs beside `npm start`: each folder takes one server.
const dataDir = `${config.dataDir}-dev`;
const apiPort = await findFreePort();
// An object, because for a string Vite replaces the Host header, which the server compares with the Origin.
const target = { target: `http://127.0.0.1:${apiPort}` };

// Listens before anything else starts, so that a port that is taken ends it at once.
const http = createServer(async (request, response) => (await vite).middlewares(request, response));
try {
  http.listen(config.port, config.host);
  await once(http, "listening");
} catch (error) {
  exit(explain(error));
}
const vite = createVite({
  server: {
    middlewareMode: true,
    hmr: { server: http },
    proxy: { "/send-email": target, "/healthz": target, "/readyz": target },
    watch: { ignored: (path: string) => [config.dataDir, dataDir].some((dir) => `${path}/`.startsWith(`${dir}/`)) },
  },
});
await vite;

// The server process does not start without a build; the pages that a developer sees are Vite's.
if (!existsSync(manifestFile("dist"))) await buildOnce();
const address = `localhost:${(http.address() as AddressInfo).port}`;
const api = spawn(process.execPath, ["--watch", "--watch-preserve-output", "server/main.ts"], {
  env: {
    RATE_LIMIT: "off",
    HOURLY_LIMIT: "off",
    MESSAGES_COMMAND: `DATA_DIR=${relative("", dataDir)} npm run messages --`,
    ...process.env,
    DATA_DIR: dataDir,
    HOST: "127.0.0.1",
    PORT: String(apiPort),
  },
  stdio: ["inherit", "pipe", "inherit"],
});
// It knows only its own address, which is not the one to open.
createInterface(api.stdout).on("line", (line) => console.log(line.replace(`localhost:${apiPort}`, address)));
let isStopping = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    // Once only: npm forwards a terminal's Ctrl-C, so it arrives twice, and a second signal may end the server at once.
    if (!isStopping) api.kill();
    isStopping = true;
  });
}
api.once("exit", () => (isStopping ? process.exit(0) : exit("The server process behind this one has ended.")));
process.once("exit", () => api.kill());
console.log(`Development server on http://${address}, with hot reload`);

/** Starts even if a page is refused, because its author corrects it here. */
async function buildOnce(): Promise<void> {
  try {
    await (await createBuilder({ mode: "draft", logLevel: "warn" })).buildApp();
  } catch (error) {
    console.error(error);
    // A mode of prerender/site-plugin.ts.
    const pagesDir = `${config.build.siteDir}pages`;
    const builder = await createBuilder({ mode: "without-pages", logLevel: "warn" });
    await builder.buildApp().catch(() => exit(`The site cannot be built without the pages of ${pagesDir} either.`));
    console.log(`dist/ is built without the pages of ${pagesDir}; npm run build adds them when they are corrected.`);
  }
}

function readConfig(): Config {
  try {
    return parseConfig(process.env);
  } catch (error) {
    if (error instanceof ConfigError) exit(error.message);
    throw error;
  }
}

function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "EADDRINUSE"
    ? `Port ${config.port} is in use; stop the other program or choose another, e.g. PORT=3001 npm run dev`
    : `PORT ${config.port} of HOST ${config.host} cannot be used (${message})`;
}

function exit(problem: string): never {
  console.error(problem);
  process.exit(1);
}

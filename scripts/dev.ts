// `npm run dev`: Vite on PORT renders the pages on every request, and forwards messages to the real server, which runs
// in a separate process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { relative } from "node:path";
import { createInterface } from "node:readline";
import { inspect } from "node:util";
import { createBuilder, createServer as createVite } from "vite";
import { manifestFile } from "../contract/build-manifest.ts";
import { type Config, ConfigError, parseConfig } from "../server/config.ts";

const config = readConfig();
// A separate folder, so that it can run beside `npm start`: only one server can use a folder.
const dataDir = `${config.dataDir}-dev`;
// The server takes another port at each start, and prints it. Nothing listens on port 1.
const api = new URL("http://127.0.0.1:1");
// An object: with a string, Vite would replace the Host header, which the server compares with the Origin.
const target = { target: api };

// Listens before anything else starts, so that it fails at once if the port is in use.
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

// The server process needs a build to start, but the developer sees Vite's pages.
if (!existsSync(manifestFile("dist"))) {
  const builder = await createBuilder({ mode: "draft", logLevel: "warn" });
  await builder.buildApp().catch((error) => exit(inspect(error)));
}
const address = `localhost:${(http.address() as AddressInfo).port}`;
const child = spawn(process.execPath, ["--watch", "--watch-preserve-output", "server/main.ts"], {
  env: {
    RATE_LIMIT: "off",
    HOURLY_LIMIT: "off",
    MESSAGES_COMMAND: `DATA_DIR=${relative("", dataDir)} npm run messages --`,
    ...process.env,
    DATA_DIR: dataDir,
    HOST: "127.0.0.1",
    PORT: "0",
  },
  stdio: ["inherit", "pipe", "inherit"],
});
// Replaces the server's own address in its log by the address to open.
createInterface(child.stdout).on("line", (line) => {
  api.port = / on http:\/\/localhost:(\d+) /.exec(line)?.[1] ?? api.port;
  console.log(line.replace(`localhost:${api.port}`, address));
});
let isStopping = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    // Only once: npm forwards the terminal's Ctrl-C, so it arrives twice, and a second signal may end the server at
    // once.
    if (!isStopping) child.kill();
    isStopping = true;
  });
}
child.once("exit", () => (isStopping ? process.exit(0) : exit("The API server process has ended.")));
process.once("exit", () => child.kill());
console.log(`Development server on http://${address}, with hot reload`);

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
    ? `Port ${config.port} is in use; stop the other program, or run e.g. PORT=3001 npm run dev`
    : `Cannot listen on ${config.host}:${config.port} (${message})`;
}

function exit(problem: string): never {
  console.error(problem);
  process.exit(1);
}

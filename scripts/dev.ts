// `npm run dev`: Vite renders the pages for every request on PORT, and passes the rest to the real server behind it.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createBuilder, createServer } from "vite";
import { MANIFEST_FILE } from "../contract/build-manifest.ts";

const port = Number(process.env.PORT ?? 3000);
const apiPort = port + 1;

// The server needs a build to start with, however old: the pages a developer sees are Vite's.
if (!existsSync(`dist/${MANIFEST_FILE}`)) await (await createBuilder({ logLevel: "warn" })).buildApp();
const api: ChildProcess = spawn(process.execPath, ["--watch", "--watch-preserve-output", "server/main.ts"], {
  env: { ...process.env, PORT: String(apiPort) },
  stdio: "inherit",
});
const target = `http://127.0.0.1:${apiPort}`;
const server = await createServer({
  server: {
    port,
    strictPort: true,
    host: process.env.HOST ?? "127.0.0.1",
    proxy: { "/send-email": target, "/healthz": target, "/readyz": target },
  },
});
await server.listen();
console.log(`Development server on http://localhost:${port}, with hot reload`);
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => {
    api.kill();
    void server.close().then(() => process.exit(0));
  });
}

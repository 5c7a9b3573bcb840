import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { isInstalled } from "../../scripts/programs.mjs";
import { findFreePort, type RunningProgram, startProgram, startServer } from "../../scripts/run-server.ts";

/** Starts a server that keeps its files in `folder`. */
export type Start<Server extends RunningProgram = RunningProgram> = (folder: string) => Promise<Server>;

/** Runs `measure` while a server runs in a temporary folder. */
export async function withServer<Server extends RunningProgram, T>(
  start: Start<Server>,
  measure: (server: Server) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  try {
    const server = await start(folder);
    try {
      return await measure(server);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface Rival {
  name: string;
  /** Null if the program is not installed on this machine. */
  start: Start | null;
}

/** Servers that send the same compressed page at /contact. With taskset, each runs only on the first core. */
export const RIVALS: readonly Rival[] = [
  {
    name: "bare node:http",
    start: () => startProgram([...oneCore(), "node", "tools/bench/bare-servers.ts", "pages", "dist"]),
  },
  { name: "ours", start: (folder) => startServer({ DATA_DIR: folder, LOG_LEVEL: "error" }, oneCore()) },
  { name: "Caddy", start: isInstalled("caddy") ? startCaddy : null },
  { name: "nginx", start: isInstalled("nginx") ? startNginx : null },
];

export function oneCore(): string[] {
  return isInstalled("taskset") ? ["taskset", "-c", "0"] : [];
}

async function startCaddy(folder: string): Promise<RunningProgram> {
  const port = await findFreePort();
  const config = join(folder, "Caddyfile");
  await writeFile(
    config,
    `{
  admin off
  auto_https off
}
http://:${port} {
  bind 127.0.0.1
  root * ${resolve("dist")}
  rewrite /contact /contact/index.html
  file_server {
    precompressed br
    disable_canonical_uris
  }
}
`,
  );
  const command = [...oneCore(), "caddy", "run", "--config", config, "--adapter", "caddyfile"];
  return startProgram(command, { env: { HOME: folder, GOMAXPROCS: "1" }, port });
}

async function startNginx(folder: string): Promise<RunningProgram> {
  const port = await findFreePort();
  const config = join(folder, "nginx.conf");
  await writeFile(
    config,
    `daemon off;
${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000;
  open_file_cache max=100;
  client_body_temp_path ${folder};
  proxy_temp_path ${folder};
  fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder};
  scgi_temp_path ${folder};
  server {
    listen 127.0.0.1:${port};
    location = /contact {
      default_type "text/html; charset=utf-8";
      add_header content-encoding br;
      alias ${resolve("dist/contact/index.html.br")};
    }
  }
}
`,
  );
  return startProgram([...oneCore(), "nginx", "-c", config, "-e", join(folder, "error.log")], { port });
}

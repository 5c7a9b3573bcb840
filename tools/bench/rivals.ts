import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { findFreePort } from "../../scripts/free-port.ts";
import { type StartedProcess, startProcess, startServer } from "../../scripts/start-process.ts";

export interface Rival {
  name: string;
  /** Null when the program is not installed on this machine. */
  start: ((folder: string) => Promise<StartedProcess>) | null;
}

/** Servers of one and the same compressed page at /contact, each on the first core alone where that can be had. */
export const RIVALS: readonly Rival[] = [
  { name: "bare node:http", start: () => startProcess([...oneCore(), "node", "tools/bench/bare-pages.ts", "dist"]) },
  { name: "ours", start: (folder) => startServer({ DATA_DIR: folder }, oneCore()) },
  { name: "Caddy", start: isInstalled("caddy") ? startCaddy : null },
  { name: "nginx", start: isInstalled("nginx") ? startNginx : null },
];

export function oneCore(): string[] {
  return isInstalled("taskset") ? ["taskset", "-c", "0"] : [];
}

function isInstalled(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}

async function startCaddy(folder: string): Promise<StartedProcess> {
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
  return startProcess(command, { HOME: folder, GOMAXPROCS: "1" }, port);
}

async function startNginx(folder: string): Promise<StartedProcess> {
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
  return startProcess([...oneCore(), "nginx", "-c", config, "-e", join(folder, "error.log")], {}, port);
}

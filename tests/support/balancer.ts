import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { findFreePort, type RunningServer, startProgram } from "./run-server.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { untilEnd } from "./until-end.ts";

/** The folder for a configuration, and the ports in it. */
interface Parts {
  folder: string;
  port: number;
  plainPort: number;
  nodePorts: readonly string[];
}

/** The load balancers with an example in deploy/. */
export const BALANCERS = {
  nginx: { needs: ["nginx", "openssl"], prepare: prepareNginx },
  Caddy: { needs: ["caddy"], prepare: prepareCaddy },
} as const;
export type Balancer = Awaited<ReturnType<typeof startBalancer>>;

/**
 * Runs a balancer with the example in deploy/, with only ports and certificate changed, and without the nodes that are
 * not given, as docs/operations.md describes for the first launch. It ends with the test.
 */
export async function startBalancer(name: keyof typeof BALANCERS, nodes: readonly Pick<RunningServer, "port">[]) {
  const folder = await makeScratchFolder();
  const port = await findFreePort();
  const plainPort = await findFreePort();
  const nodePorts = nodes.map((node) => String(node.port));
  const command = await BALANCERS[name].prepare({ folder, port, plainPort, nodePorts });
  const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const program = await untilEnd(startProgram(command, { env, port }));
  const tls = { port, host: "127.0.0.1", servername: "www.example.com", rejectUnauthorized: false };

  /** Sends a request to the site through the balancer, over TLS and with its public name. */
  async function ask(
    path: string,
    question: { headers?: Record<string, string>; json?: unknown; limitMs?: number } = {},
  ) {
    const { headers = {}, json, limitMs = 30_000 } = question;
    const post = json === undefined ? {} : { "content-type": "application/json" };
    // Not `fetch`, which can neither send a different Host nor trust the test's certificate.
    const outgoing = request({
      ...tls,
      path,
      signal: AbortSignal.timeout(limitMs),
      method: json === undefined ? "GET" : "POST",
      headers: { host: "www.example.com", ...post, ...headers },
    });
    outgoing.end(json === undefined ? undefined : JSON.stringify(json));
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
  }
  const status = () => ask("/healthz").then((answer) => answer.status, program.output);
  await expect.poll(status, { timeout: 20_000, interval: 100 }).toBe(200);
  // nginx names the configuration line that it warns about.
  expect(program.output()).not.toMatch(/\[warn\] .*\.conf:\d+/);
  return { ask, plainPort, output: program.output };
}

async function prepareNginx({ folder, port, plainPort, nodePorts }: Parts): Promise<string[]> {
  const [certificate, key] = [join(folder, "fullchain.pem"), join(folder, "privkey.pem")];
  const parameters =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=www.example.com";
  spawnSync("openssl", [...parameters.split(" "), "-keyout", key, "-out", certificate]);
  const file = await readFile("deploy/nginx.conf", "utf8");
  const others = new RegExp(`.*127\\.0\\.0\\.1:300[${nodePorts.length + 1}-9].*\n`, "g");
  const example = withNodes(file.replaceAll(others, ""), nodePorts)
    .replaceAll("listen 443 ", `listen 127.0.0.1:${port} `)
    .replaceAll("listen 80;", `listen 127.0.0.1:${plainPort};`)
    .replaceAll(/listen \[::\]:.+;/g, "")
    .replaceAll(/\/etc\/letsencrypt\/live\/www\.example\.com\/([^;]+)/g, `"${folder}/$1"`);
  await writeFile(join(folder, "site.conf"), example);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path "${folder}";`,
  );
  await writeFile(
    join(folder, "nginx.conf"),
    `${process.getuid?.() === 0 ? "user root;" : ""} pid "${folder}/nginx.pid"; error_log stderr warn;
    events {} http { access_log off; ${temporary.join(" ")} include "${folder}/site.conf"; }`,
  );
  return ["nginx", "-p", folder, "-c", join(folder, "nginx.conf"), "-g", "daemon off;"];
}

async function prepareCaddy({ folder, port, plainPort, nodePorts }: Parts): Promise<string[]> {
  const text = await readFile("deploy/Caddyfile", "utf8");
  const others = new RegExp(` 127\\.0\\.0\\.1:300[${nodePorts.length + 1}-9]`, "g");
  const example = withNodes(text.replaceAll(others, ""), nodePorts)
    .replaceAll(/^((?:www\.)?example\.com) \{$/gm, `https://$1:${port} {\n\ttls internal`)
    .replaceAll(/http:\/\/[\w.]+/g, `$&:${plainPort}`);
  const file = join(folder, "Caddyfile");
  const options = "{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n";
  await writeFile(file, example.replace(/^\{\n/m, options));
  return ["caddy", "run", "--config", file, "--adapter", "caddyfile"];
}

function withNodes(example: string, nodePorts: readonly string[]): string {
  return nodePorts.reduce(
    (text, port, index) => text.replaceAll(`127.0.0.1:${3001 + index}`, `127.0.0.1:${port}`),
    example,
  );
}

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join, matchesGlob, relative, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseConfig } from "../../server/config.ts";
import { BALANCERS, startBalancer } from "../support/balancer.ts";
import { PROGRAM_PATH } from "../support/programs.ts";
import { requirePrograms } from "../support/require-program.ts";
import { findFreePort, startProgram } from "../support/run-server.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { untilEnd } from "../support/until-end.ts";

const dockerfile = await readFile("deploy/Dockerfile", "utf8");
const compose = await readFile("deploy/compose.yaml", "utf8");
const unit = await readFile("deploy/systemd/brighter-carbon.service", "utf8");
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = ""]) => name);

function run(command: string[], env: Record<string, string> = {}) {
  const [program = "", ...args] = command;
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: "utf8",
    env: { PATH: PROGRAM_PATH, ...env },
  });
  return { status, out: stdout, text: `${stdout}${stderr}` };
}

const BACKUP_UNIT = "deploy/systemd/brighter-carbon-backup.service";

test.for(["deploy/systemd/brighter-carbon.service", BACKUP_UNIT])(
  "systemd accepts %s, and rates its exposure as low",
  (file, { skip }) => {
    requirePrograms(skip, "systemd-analyze");
    // The program is not installed on this machine.
    const verified = run(["systemd-analyze", "verify", file]).text.split("\n");
    const isExpected = (line: string) =>
      line === "" || /\/(opt\/brighter-carbon\/\S+|usr\/local\/sbin\/brighter-carbon) is not executable/.test(line);
    expect(verified.filter((line) => !isExpected(line))).toEqual([]);
    const { text } = run(["systemd-analyze", "security", "--offline=true", file]);
    expect(Number(/exposure level for .+: ([\d.]+)/.exec(text)?.[1])).toBeLessThanOrEqual(1.5);
  },
);

test("the backup has the restrictions of the website", async () => {
  const restrictions = unit.slice(unit.indexOf("# Files:"), unit.indexOf("[Install]"));
  expect(restrictions).toContain("ProtectSystem=strict");
  expect((await readFile(BACKUP_UNIT, "utf8")).trim()).toContain(restrictions.trim());
});

test("deploy/ sets only variables that exist", async () => {
  const settings = await readFile("deploy/systemd/site.env", "utf8");
  const set = namesIn([settings, unit, dockerfile, compose].join("\n"), /(?:^#?|^ +|[ "=](?=\w+=))([A-Z_]{4,})[=:]/gm);
  const documented = await readFile("docs/configuration.md", "utf8");
  const isKnown = (name: string) =>
    /^(NODE|MALLOC|POSTGRES|POSTS|READS)_/.test(name) || documented.includes(`\`${name}\``);
  expect(set.filter((name) => !isKnown(name))).toEqual([]);
  expect(set).toEqual(expect.arrayContaining(["MAIL_TO", "ALERT_URL", "MESSAGES_COMMAND", "DATA_DIR"]));
});

test("compose.yaml passes every variable of the configuration, and what it does not set stays unset", async () => {
  const names = namesIn(await readFile("docs/configuration.md", "utf8"), /^\| ((?:`[A-Z_]+`,? ?)+)/gm).flatMap((cell) =>
    namesIn(cell, /`([A-Z_]+)`/g),
  );
  // The image sets these two, and the network of the containers these.
  const passed = new Set([...namesIn(compose, /\$\{([A-Z_]+)/g), "HOST", "DATA_DIR", "DATABASE_URL", "METRICS_PORT"]);
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !passed.has(name))).toEqual([]);
  const empty = Object.fromEntries(namesIn(compose, /\$\{([A-Z_]+):-\}/g).map((name) => [name, ""]));
  expect(parseConfig(empty)).toEqual(parseConfig({}));
});

test("the image has the tested Node version, and the stop timeouts are long enough", async () => {
  const { optionalDependencies } = JSON.parse(await readFile("scripts/node-runtime/package.json", "utf8"));
  const images = namesIn(dockerfile, /^FROM node:([\d.]+)-/gm);
  expect(new Set(images)).toEqual(new Set(Object.values(optionalDependencies)));
  const shutdownMs = Number(/SHUTDOWN_MS = (\d+)_000/.exec(await readFile("server/main.ts", "utf8"))?.[1]) * 1000;
  expect(Number(/TimeoutStopSec=(\d+)/.exec(unit)?.[1]) * 1000).toBeGreaterThan(shutdownMs);
  expect(Number(/stop_grace_period: (\d+)s/.exec(compose)?.[1]) * 1000).toBeGreaterThan(shutdownMs);
});

test("one script starts the server everywhere, and becomes the server", async () => {
  const { scripts } = JSON.parse(await readFile("package.json", "utf8"));
  for (const command of [scripts.start, scripts.serve]) expect(command).toMatch(/(^|&& )exec scripts\/start$/);
  expect(unit).toContain("\nExecStart=/opt/brighter-carbon/scripts/start\n");
  expect(dockerfile).toContain('\nCMD ["scripts/start"]\n');
  const dataDir = join(await makeScratchFolder(), "data");
  const server = await untilEnd(
    startProgram([resolve("scripts/start")], { cwd: "/", env: { PORT: "0", DATA_DIR: dataDir } }),
  );
  // The process itself gets the signal, and ends in order.
  expect(await readFile(`/proc/${server.process.pid}/cmdline`, "utf8")).toMatch(
    /^node\0--max-old-space-size=\d+\0--max-semi-space-size=\d+\0server\/main\.ts\0$/,
  );
  expect(await server.stop()).toBe(0);
});

test("health checks leave Caddy's log empty while a node is down", async ({ skip }) => {
  requirePrograms(skip, ...BALANCERS.Caddy.needs);
  let checks = 0;
  const answer = (status: number) => createServer((_request, response) => response.writeHead(status).end());
  const nodes = await Promise.all(
    [answer(200), answer(503).on("request", () => (checks += 1))].map(async (node) => {
      await once(node.listen(0, "127.0.0.1"), "listening");
      onTestFinished(() => void node.close().closeAllConnections());
      return { port: (node.address() as AddressInfo).port };
    }),
  );
  const { output } = await startBalancer("Caddy", nodes);
  const before = checks;
  await expect.poll(() => checks, { timeout: 20_000 }).toBeGreaterThan(before + 4);
  expect(output()).not.toMatch(/health_checker|status code/);
});

test("the image can be built from its context only, and its server needs only the image's files", async () => {
  const scratch = await makeScratchFolder();
  const [pages, image] = [join(scratch, "pages"), join(scratch, "image")];
  const lastStage = dockerfile.slice(dockerfile.lastIndexOf("FROM "));

  const ignoreFile = await readFile(".dockerignore", "utf8");
  const kept = namesIn(ignoreFile, /^!(.+)$/gm);
  const ignored = namesIn(ignoreFile, /^([^#!\s].*)$/gm).flatMap((glob) => [glob, `${glob}/**`]);
  const isSent = (path: string) =>
    kept.some((file) => `${file}/`.startsWith(`${path}/`)) || !ignored.some((glob) => matchesGlob(path, glob));
  await cp(".", pages, { recursive: true, filter: (source) => isSent(relative(".", source)) });
  await symlink(resolve("node_modules"), join(pages, "node_modules"));
  const [, build = ""] = /^COPY \S+ \. \.\n(?:#.+\n|ARG .+\n)*RUN (.+)$/m.exec(dockerfile) ?? [];
  expect(build).toContain("npm run build");
  const built = spawnSync("sh", ["-c", build], { cwd: pages, env: { PATH: process.env.PATH }, encoding: "utf8" });
  expect(built.status, built.stdout + built.stderr).toBe(0);

  const { dependencies } = JSON.parse(await readFile("package.json", "utf8"));
  const [, removed = ""] = /^RUN npm uninstall ((?:.+\\\n)+.+)$/m.exec(dockerfile) ?? [];
  const onlyForBuilds = removed.split(/[\s\\]+/).filter((word) => !word.startsWith("--"));
  expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(onlyForBuilds));
  expect(onlyForBuilds).toEqual(expect.arrayContaining(["vite", "sharp", "react-dom"]));
  for (const name of Object.keys(dependencies).filter((name) => !onlyForBuilds.includes(name))) {
    const link = join(image, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(resolve("node_modules", name), link);
  }
  const copies = [...lastStage.matchAll(/^COPY (?:--from=(\w+) )?(?:--chown=\S+ )?(\S+) (\S+)$/gm)];
  expect(copies).toHaveLength(lastStage.match(/^COPY /gm)?.length ?? 0);
  for (const [, stage, source = "", target = ""] of copies) {
    if (source === "/site/node_modules") continue;
    if (!stage) expect(isSent(source), source).toBe(true);
    const to = target.endsWith("/") ? join(target, basename(source)) : target;
    await cp(join(pages, source.replace("/site/", "")), join(image, to), { recursive: true });
  }

  const server = await untilEnd(
    startProgram(["node", "server/main.ts"], {
      cwd: image,
      env: { NODE_ENV: "production", HOST: "0.0.0.0", PORT: "0", DATA_DIR: join(scratch, "data"), LOG_LEVEL: "error" },
    }),
  );
  for (const path of ["/", "/contact", "/healthz"]) {
    expect((await fetch(server.url + path)).status, path).toBe(200);
  }

  const port = await findFreePort();
  const inbox = await untilEnd(
    startProgram(["node", "desk/command.ts", "inbox", "--port", String(port)], {
      cwd: image,
      port,
      env: { NODE_ENV: "production", DATA_DIR: join(scratch, "data") },
    }),
  );
  expect(await (await fetch(inbox.url)).text()).toContain('id="inbox"');
  expect(await inbox.stop()).toBe(0);

  const [check = ""] = namesIn(lastStage, /^ {2}CMD (\[.+\])$/gm);
  const [, ...args] = JSON.parse(check) as string[];
  const healthCheck = (env: Record<string, string>) => {
    const checking = spawn(process.execPath, args, { env, stdio: "ignore" });
    return once(checking, "exit").then(([code]) => code);
  };
  expect(await healthCheck({ PORT: String(server.port) })).toBe(0);
  expect(await healthCheck({ PORT: String(await findFreePort()) })).toBe(1);
});

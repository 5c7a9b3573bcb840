import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { basename, dirname, join, matchesGlob, relative, resolve } from "node:path";
import { expect, test } from "vitest";
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
    // The program is not installed in /opt on this machine.
    const verified = run(["systemd-analyze", "verify", file]).text.split("\n");
    const isExpected = (line: string) => line === "" || /\/opt\/brighter-carbon\/\S+ is not executable/.test(line);
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
  const isKnown = (name: string) => /^(NODE|MALLOC|POSTGRES|POSTS)_/.test(name) || documented.includes(`\`${name}\``);
  expect(set.filter((name) => !isKnown(name))).toEqual([]);
  expect(set).toEqual(expect.arrayContaining(["MAIL_TO", "ALERT_URL", "MESSAGES_COMMAND", "DATA_DIR"]));
});

test("the image has the tested Node version, and the stop timeouts are long enough", async () => {
  const { optionalDependencies } = JSON.parse(await readFile("scripts/node-runtime/package.json", "utf8"));
  const images = namesIn(dockerfile, /^FROM node:([\d.]+)-/gm);
  expect(new Set(images)).toEqual(new Set(Object.values(optionalDependencies)));
  const shutdownMs = Number(/SHUTDOWN_MS = (\d+)_000/.exec(await readFile("server/main.ts", "utf8"))?.[1]) * 1000;
  expect(Number(/TimeoutStopSec=(\d+)/.exec(unit)?.[1]) * 1000).toBeGreaterThan(shutdownMs);
  expect(Number(/stop_grace_period: (\d+)s/.exec(compose)?.[1]) * 1000).toBeGreaterThan(shutdownMs);
});

test("the server is started as `npm run serve` starts it", async () => {
  const { scripts } = JSON.parse(await readFile("package.json", "utf8"));
  const [, arenas, cache, command = ""] = /^(MALLOC\S+) (NODE_COMPILE_CACHE=\S+) exec (.+)$/.exec(scripts.serve) ?? [];
  expect(unit).toMatch(`ExecStart=/opt/brighter-carbon/node_modules/.bin/${command}\n`);
  expect(dockerfile).toMatch(`\nCMD ${JSON.stringify(command.split(" ")).replaceAll(",", ", ")}\n`);
  expect(dockerfile).toContain(` ${arenas} ${cache} `);
  expect(unit).toContain(` ${arenas} NODE_COMPILE_CACHE=`);
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
  for (const name of Object.keys(dependencies)) {
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
    startProgram(["node", "server/desk/command.ts", "inbox", "--port", String(port)], {
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

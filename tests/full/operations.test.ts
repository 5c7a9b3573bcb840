import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { copyProject } from "../support/project-copy.ts";
import { runCli, runWithInput } from "../support/run-cli.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = ""]) => name);

test("every operator command in the operators' documents is valid", async () => {
  const nowhere = await makeScratchFolder();
  const documents = ["operations", "desk", "docker"].map((name) => readFileSync(`docs/${name}.md`, "utf8"));
  const commands = namesIn(documents.join("\n"), /(?:brighter-carbon |`|^)messages ([^\n`>&#]+)/gm).map((command) =>
    command.trim().replace(/\)"$/, ""),
  );
  expect(commands.length).toBeGreaterThanOrEqual(20);
  for (const command of commands) {
    const words = command.replaceAll(/\$\([^)]*\)/g, "DATE").match(/'[^']*'|\S+/g) ?? [];
    // This folder exists, as on the documented machine.
    const args = words.map((word) => word.replaceAll("'", "").replace("/var/backups/brighter-carbon", nowhere));
    // The last one is in the line for sudo.
    if (["…", "--help", "*"].includes(args[0] ?? "")) continue;
    // A valid command fails only because there is no database or file.
    const { code, err } = await runWithInput({ DATA_DIR: join(nowhere, "none") }, "text", ...args);
    expect([command, code, err]).toEqual([command, 1, expect.any(String)]);
  }
});

const SECRETS = `MAIL_TO=secret@example.com\nHOOK_URL=http://127.0.0.1:1/secret\nHOOK_SECRET=whsec_${"A".repeat(43)}=\n`;

/** The path as a word of a shell command. */
const escaped = (path: string) => path.replaceAll(" ", "\\ ");

/** Simulates the documented machine: moves all paths in its commands to a folder. */
async function makeMachine() {
  const folder = await makeScratchFolder();
  const [sbin, opt] = [join(folder, "sbin"), join(folder, "opt")];
  const [dataDir, backups, settings] = [join(folder, "data"), join(folder, "backups"), join(folder, "site.env")];
  for (const path of [sbin, opt, backups, join(folder, "units")]) mkdirSync(path);
  await (await openStoreInProcess({ dataDir, databaseUrl: null })).close();
  writeFileSync(
    settings,
    `DATA_DIR=${dataDir}\nSITE_DIR=${opt}/brighter-carbon-site\nSITE_URL=http://127.0.0.1:1\n${SECRETS}`,
  );
  const places: [string, string][] = [
    ["/usr/local/sbin", sbin],
    ["/usr/sbin", sbin],
    ["/etc/systemd/system", join(folder, "units")],
    ["/etc/brighter-carbon.env", settings],
    ["/opt/", `${opt}/`],
    ["/var/backups/brighter-carbon", backups],
  ];
  // The folder's path may contain spaces, the documented paths do not.
  const moved = (text: string) => places.reduce((result, [from, to]) => result.replaceAll(from, escaped(to)), text);
  const program = (name: string, script: string) =>
    writeFileSync(join(sbin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  // Debian's runuser needs the service's user. It is in a folder that is not on cron's PATH.
  program("runuser", 'shift 3; exec "$@"');
  for (const name of ["useradd", "chown"]) program(name, "exit 0");
  program("stat", "echo root");
  program("install", '[ "$1" != -d ] || { shift 3; exec mkdir -p "$@"; }; exec /usr/bin/install "$@"');
  program("systemctl", "exit 0");
  const wrapper = moved(readFileSync("deploy/systemd/brighter-carbon", "utf8"));
  return { folder, opt, dataDir, backups, settings, moved, program, wrapper };
}

test("root opens, writes and changes nothing in a folder of another user", () => {
  const lines = readFileSync("docs/operations.md", "utf8").split("\n");
  const ofOthers = ["/var/lib/brighter-carbon", "/var/backups/brighter-carbon", "/opt/brighter-carbon-site"];
  const handOver = lines.findIndex((line) => /sudo chown -R brighter-carbon-build: \S+-site$/.test(line));
  const touching = lines
    .filter((line, index) => index > handOver && ofOthers.some((folder) => line.includes(folder)))
    .flatMap((line) => line.match(/sudo [^`#]+|^\d+ \d+ \* \* \* .+/g) ?? []);
  expect(touching.length).toBeGreaterThanOrEqual(8);
  // These run as the folder's user, or make the folder itself, whose parent is root's.
  const isAllowed = (line: string) =>
    /^(sudo|15 3 \* \* \*) (\/usr\/local\/sbin\/)?brighter-carbon messages [^>|;&]+$/.test(line) ||
    /^sudo runuser -u brighter-carbon(-build)? -- /.test(line) ||
    /^sudo install -d -m 700 -o brighter-carbon( -g brighter-carbon)? \/var\/\w+\/brighter-carbon$/.test(line);
  expect(touching.filter((line) => !isAllowed(line))).toEqual([]);
  expect(lines.filter((line, index) => index !== handOver && /chown|sudo (su|-[iu])\b/.test(line))).toEqual([]);
  // As root, these would work in whichever folder the lines before them have chosen.
  expect(
    lines.filter((line) => /sudo (rm|mv|mkdir|tee|touch|chmod|sh -c|sqlite3)/.test(line)).map((line) => line.trim()),
  ).toEqual(["sudo mkdir /opt/brighter-carbon-site"]);
});

test("root installs and runs only what root owns: a build in a folder of its own user is refused", async () => {
  const { folder, opt, program, wrapper, moved } = await makeMachine();
  program("brighter-carbon", wrapper);
  symlinkSync(process.cwd(), join(opt, "brighter-carbon"));
  program("stat", "echo brighter-carbon-build");
  program("runuser", "echo run");
  const run = spawnSync("sh", ["-c", moved("/usr/local/sbin/brighter-carbon build")], {
    cwd: folder,
    encoding: "utf8",
  });
  expect([run.status, run.stdout]).toEqual([1, ""]);
  expect(run.stderr).toMatch(/ belongs to brighter-carbon-build, who can change what root runs\. Clone it again/);
});

test("the installed command runs without runuser as the service's user, as the unit of the backup does", async () => {
  const { opt, backups, moved, program, wrapper } = await makeMachine();
  program("brighter-carbon", wrapper);
  symlinkSync(process.cwd(), join(opt, "brighter-carbon"));
  program("id", "echo brighter-carbon");
  program("runuser", "echo may not be used with NoNewPrivileges >&2; exit 1");
  const unit = readFileSync("deploy/systemd/brighter-carbon-backup.service", "utf8");
  const [command = ""] = namesIn(unit, /^ExecStart=(.+)$/gm);
  expect(unit).not.toContain("/opt/");
  const { status, stderr } = spawnSync("sh", ["-c", moved(command)], {
    env: { PATH: "/usr/bin:/bin" },
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([0, ""]);
  expect(readdirSync(backups)).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d-\d{6}\.db$/)]);
});

test("the documented cron line makes a backup in cron's environment", async () => {
  const { opt, dataDir, backups, moved, program, wrapper } = await makeMachine();
  program("brighter-carbon", wrapper);
  symlinkSync(process.cwd(), join(opt, "brighter-carbon"));
  const [, line = ""] = /^15 3 \* \* \* (.+)$/m.exec(readFileSync("docs/operations.md", "utf8")) ?? [];
  // Cron replaces `\%` with `%`, and ends the line at a plain `%`.
  const command = moved(line).replaceAll("\\%", "\0").replaceAll(/%.*/g, "").replaceAll("\0", "%");
  const env = { PATH: "/usr/bin:/bin", SHELL: "/bin/sh", HOME: "/root", LOGNAME: "root" };
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], { env, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  const [file = "", ...others] = readdirSync(backups);
  // The name contains the time, so that a second backup on the same day has another name.
  expect([file, others]).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d-\d{6}\.db$/), []]);
  expect(stdout).toBe(`All messages copied to ${join(backups, file)}.\n`);
  expect((await runCli({ DATA_DIR: dataDir }, "stats")).out).toContain("\nLast backup: ");
});

test("the documented launch and upgrade keep the company's brand, and check the new version before the switch", async () => {
  const { folder, opt, moved, program, wrapper } = await makeMachine();
  const release = await copyProject("deploy", "desk", "package-lock.json", "vite.inbox.config.ts");
  writeFileSync(join(release, "deploy/systemd/brighter-carbon"), wrapper);
  program("git", `cp -R ${escaped(release)} "$3"`);
  // Simulates the operator's changes in the editor.
  program("nano", "sed -i 's/Brighter Carbon/North Hill/; s/hello@.*example/post@northhill.example/' \"$1\"");
  // Packages and Node 24 are installed already.
  program("node", `exec ${escaped(process.execPath)} "$@"`);
  const built = escaped(join(folder, "build.env"));
  program("npm", `if [ "$1" = run ]; then env > ${built}; shift; exec node_modules/.bin/node --run "$@"; fi`);
  const text = readFileSync("docs/operations.md", "utf8");
  const blocks = (from: string, to: string) =>
    namesIn(text.slice(text.indexOf(from), text.indexOf(to)), /^ +```sh\n([^`]+)```/gm);
  const env = { PATH: `${join(folder, "sbin")}:/usr/local/bin:/usr/bin:/bin`, HOME: folder };
  let cwd = folder;
  const type = (block = "") => {
    const lines = moved(block).replaceAll(/^ +|sudo /gm, "");
    // The answers of the review: who signs, and that the brand is signed.
    const options = { cwd, env, encoding: "utf8", input: "North Hill\ny\n" } as const;
    const { status, stdout, stderr } = spawnSync("sh", ["-ec", `${lines}\npwd > "$HOME/cwd"`], options);
    if (status === 0) cwd = readFileSync(join(folder, "cwd"), "utf8").trim();
    return { status, output: stdout + stderr };
  };
  const namesOnPage = () => {
    const page = readFileSync(join(opt, "brighter-carbon/dist/site/index.html"), "utf8");
    return [...new Set(page.match(/North Hill Private Limited|Brighter Carbon/g))];
  };

  // Leaves out steps that need root or a network: packages and the settings.
  const [getProgram, makeFolder, build] = blocks("3. **Get the program**", "7. **Start the server**").filter(
    (block) => !block.includes("site.env"),
  );
  for (const block of [getProgram, makeFolder, build]) {
    const { status, output } = type(block);
    expect(status, output).toBe(0);
  }
  expect(namesOnPage()).toEqual(["North Hill Private Limited"]);
  // The packages that build get no password.
  const environment = readFileSync(join(folder, "build.env"), "utf8");
  expect(environment).toMatch(/^SITE_URL=http:\/\/127\.0\.0\.1:1$/m);
  expect(environment).toMatch(/^HOOK_URL=yes$/m);
  expect(environment).not.toContain("secret");
  const present = () => realpathSync(join(opt, "brighter-carbon"));
  expect(present()).toBe(realpathSync(join(opt, "brighter-carbon-2026-01-31")));

  const [check = "", change = ""] = blocks("## Upgrade\n", "## When mail stalls");
  const beforeSwitch = type(check);
  // This machine is not a public site. Only the check of the new folder before the switch matters.
  expect(beforeSwitch.output).toMatch(/^ok +build +\d+ files, built with the current settings$/m);
  expect(beforeSwitch.output).toContain("the pages show post@northhill.example");
  expect(beforeSwitch.output).toMatch(/\nNot ready: /);
  expect(beforeSwitch.status).toBe(1);
  expect(present()).toBe(realpathSync(join(opt, "brighter-carbon-2026-01-31")));
  cwd = join(opt, "brighter-carbon-2026-02-28");
  expect(type(change.replace(/sudo brighter-carbon preflight/, ""))).toMatchObject({ status: 0 });
  expect(present()).toBe(realpathSync(cwd));
  expect(namesOnPage()).toEqual(["North Hill Private Limited"]);
});

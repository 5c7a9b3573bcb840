// Runs the fast tests, or another command, in a copy of the project under conditions that differ from most developers'
// machines. A test that fails here depends on more than the code. Linux only.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";

interface Condition {
  what: string;
  /** The namespaces of Linux that hide the change from the rest of the machine, as options of `unshare`. */
  namespaces?: string[];
  /** Shell commands that make the change, as root. `$PLACE` is the folder of this run. */
  prepare?: string;
  prefix?: string[];
  env?: Record<string, string>;
}

const NOT_POSSIBLE = "this condition is not possible on this machine";
const DATE = "2028-02-29T23:58:00Z";

/**
 * Every process loads this library, which shifts its clock. Not libfaketime: while a process waits, its signal handlers
 * see the real time there, so that PostgreSQL's lock timeouts never end.
 */
const CLOCK = `
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
  int status = syscall(SYS_clock_gettime, clock, now);
  if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += OFFSET_S;
  return status;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec time;
  int status = clock_gettime(CLOCK_REALTIME, &time);
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1000;
  return status;
}
time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
`;

/** Every Node.js process loads this module. */
const LATE_ANSWERS = `
import { Server } from "node:http";
const emit = Server.prototype.emit;
Server.prototype.emit = function (event, ...parameters) {
  const go = () => emit.call(this, event, ...parameters);
  if (event !== "request" || Math.random() < 0.5) return go();
  setTimeout(go, 1000 * Math.random());
  return true;
};
`;

const CONDITIONS: Readonly<Record<string, Condition>> = {
  path: { what: "the path of the copy contains a space and an ä" },
  user: {
    what: "the user is nobody, or whoever runs this without being root",
    // Directories only: the files in node_modules are hard links to the ones in use.
    ...(process.getuid?.() === 0 && {
      prepare: 'find "$PLACE" -type d -exec chown nobody {} +',
      prefix: ["setpriv", "--reuid=nobody", "--regid=65534", "--clear-groups"],
    }),
  },
  root: { what: "the user is root, and other users cannot reach the copy (mode 700)", prepare: 'test "$(id -u)" = 0' },
  zone: { what: "TZ=Pacific/Kiritimati", env: { TZ: "Pacific/Kiritimati" } },
  language: {
    what: "LANG=sv_SE.UTF-8",
    prepare: `mkdir "$PLACE/locales" && export LOCPATH="$PLACE/locales" &&
      localedef --inputfile=sv_SE --charmap=UTF-8 "$LOCPATH/sv_SE.UTF-8"`,
    env: { LANG: "sv_SE.UTF-8", LC_ALL: "sv_SE.UTF-8" },
  },
  interface: {
    what: "one of two network interfaces has only a link-local IPv6 address",
    namespaces: ["--net"],
    prepare: `ip link set lo up && ip link add hostile0 type veth peer name hostile1 &&
      ip link set hostile0 up && ip link set hostile1 up && ip address add 192.0.2.1/24 dev hostile1`,
  },
  date: {
    what: `the date is ${DATE} for all processes, even those without environment variables`,
    namespaces: ["--mount"],
    prepare: `printf '%s' "$CLOCK" | cc -shared -fPIC -DOFFSET_S="$OFFSET_S" -x c - -o "$PLACE/clock.so" &&
      mkdir "$PLACE/etc" && cp -a /etc/. "$PLACE/etc" && cp "$PLACE/clock.so" "$PLACE/etc/" &&
      mount --bind "$PLACE/etc" /etc && echo /etc/clock.so > /etc/ld.so.preload`,
    env: { CLOCK },
  },
  shm: {
    what: "/dev/shm has 64 MB and runs no programs, as in Docker",
    namespaces: ["--mount"],
    prepare: "mount -t tmpfs -o size=64m,noexec,nosuid,nodev tmpfs /dev/shm",
  },
  answers: {
    what: "HTTP servers answer half of the requests up to a second late",
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LATE_ANSWERS)}` },
  },
  load: { what: "low priority (nice) beside two busy loops", prefix: ["nice"] },
};

const HELP = `npm run test:hostile -- [CONDITION ...] [-- COMMAND ...]

Runs COMMAND (vitest run --project fast) in a copy of the project without .git, under all
CONDITIONs together:

${Object.entries(CONDITIONS)
  .map(([name, { what }]) => `  ${name.padEnd(10)} ${what}`)
  .join("\n")}

Without a CONDITION it runs twice: with all except root, and with all except user.
root, interface, date and shm need root; language needs Debian's package locales,
date a C compiler.
`;

const words = process.argv.slice(2);
const end = words.includes("--") ? words.indexOf("--") : words.length;
const names = words.slice(0, end);
const command = words.length > end + 1 ? words.slice(end + 1) : ["vitest", "run", "--project", "fast"];
const unknown = names.filter((name) => !(name in CONDITIONS));
if (unknown.length > 0) {
  const isHelp = unknown.some((name) => ["--help", "-h"].includes(name));
  console.log(isHelp ? HELP : `Unknown: ${unknown.join(", ")}\n\n${HELP}`);
  process.exit(isHelp ? 0 : 2);
}
if (names.includes("user") && names.includes("root")) throw new Error("Choose user or root, not both.");

const all = Object.keys(CONDITIONS);
const runs = names.length > 0 ? [names] : ["root", "user"].map((left) => all.filter((name) => name !== left));
let worstStatus = 0;
for (const run of runs) {
  const status = await runUnder(run);
  console.log(`\n${run.join(", ")}: ${status === 0 ? "passed" : "FAILED"}`);
  worstStatus ||= status;
}
process.exitCode = worstStatus;

async function runUnder(run: readonly string[]): Promise<number> {
  const conditions = run.map((name) => ({ name, ...CONDITIONS[name] }));
  const namespaces = [...new Set(conditions.flatMap((condition) => condition.namespaces ?? []))];
  const unshare = namespaces.length > 0 ? ["unshare", ...namespaces] : [];
  const refused = conditions.filter(
    (condition) => condition.namespaces && spawnSync("unshare", [...condition.namespaces, "true"]).status !== 0,
  );
  for (const { name } of refused) console.error(`${name}: ${NOT_POSSIBLE}: unshare is missing or not permitted.`);
  if (refused.length > 0) return 77;

  // Mode 700 until it is clear that `root` is not one of the conditions.
  const place = mkdtempSync(join(tmpdir(), "hostile-"));
  const loops: ChildProcess[] = [];
  let tests: ChildProcess | undefined;
  const clear = () => {
    for (const loop of loops) loop.kill("SIGKILL");
    // The group: also what a failed test left running.
    if (tests?.pid !== undefined) spawnSync("kill", ["-KILL", "--", `-${tests.pid}`], { stdio: "ignore" });
    rmSync(place, { recursive: true, force: true, maxRetries: 10 });
  };
  const interrupt = () => process.exit(130);
  process.once("exit", clear).once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    if (!run.includes("root")) chmodSync(place, 0o755);
    mkdirSync(join(place, "home"));
    const copy = join(place, run.includes("path") ? "a cöpy of the clone, ä" : "copy");
    copyProject(copy);

    const OFFSET_S = String(Math.round((Date.parse(DATE) - Date.now()) / 1000));
    const env = {
      ...process.env,
      ...Object.assign({}, ...conditions.map((condition) => condition.env)),
      PLACE: place,
      OFFSET_S,
      HOME: join(place, "home"),
      PATH: [join(copy, "node_modules", ".bin"), process.env.PATH, "/usr/sbin", "/sbin"].join(delimiter),
    };
    // Each says which condition is not possible. The date is last: it also changes for the commands after it.
    const steps = conditions
      .toSorted((a, b) => Number(a.name === "date") - Number(b.name === "date"))
      .flatMap(({ name, prepare }) =>
        prepare ? [`{ ${prepare}; } || { echo "${name}: ${NOT_POSSIBLE}; see above."; exit 77; }`] : [],
      );
    const script = [...steps, 'exec "$@"'].join("\n");
    const prefix = conditions.flatMap((condition) => condition.prefix ?? []);
    const [program = "", ...parameters] = [...unshare, "sh", "-c", script, "sh", ...prefix, ...command];
    if (run.includes("load")) {
      for (let count = 0; count < 2; count++) loops.push(spawn("sh", ["-c", "while :; do :; done"]));
    }
    tests = spawn(program, parameters, { cwd: copy, env, stdio: "inherit", detached: true });
    const [status] = await once(tests, "exit");
    return status ?? 1;
  } finally {
    process.off("exit", clear).off("SIGINT", interrupt).off("SIGTERM", interrupt);
    clear();
  }
}

function copyProject(copy: string): void {
  mkdirSync(copy);
  const options = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", options, { encoding: "utf8" }).split("\0").filter(existsSync);
  const archive = execFileSync("tar", ["-c", "--null", "--files-from=-"], {
    input: files.join("\0"),
    maxBuffer: 2 ** 30,
  });
  execFileSync("tar", ["-x", "-C", copy], { input: archive });
  for (const folder of ["node_modules", "scripts/node-runtime/node_modules"]) {
    if (!existsSync(folder)) continue;
    const packages = readdirSync(folder).filter((name) => !/^\.(cache|vite.*)$/.test(name));
    const paths = packages.map((name) => resolve(folder, name));
    const target = join(copy, folder);
    mkdirSync(target);
    if (spawnSync("cp", ["-al", ...paths, target], { stdio: "ignore" }).status === 0) continue;
    // On another file system, or as a user who does not own the files.
    execFileSync("cp", ["-af", ...paths, target]);
  }
}

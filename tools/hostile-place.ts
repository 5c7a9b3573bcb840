// npm run test:hostile -- [CONDITION ...] [-- COMMAND ...]
//
// Runs the fast tests, or another command, in a copy of the project without .git, under conditions that differ from most
// developers' machines. A test that fails here depends on more than the code. By default it runs twice: under all
// conditions except `root`, and under all except `user`. Needs Linux; `root`, `interface`, `date` and `shm` need root,
// `language` Debian's package locales, `date` a C compiler.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

interface Condition {
  /** The namespaces of Linux that hide the change from the rest of the machine, as options of `unshare`. */
  namespaces?: string[];
  /** Shell commands that make the change, as root. `$PLACE` is the folder of this run. */
  prepare?: string;
  prefix?: string[];
  env?: Record<string, string>;
}

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

/** Every Node.js process loads this module: HTTP servers answer half of the requests up to a second late. */
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
  /** The path of the copy contains a space and an ä. */
  path: {},
  /** The user is nobody, or whoever runs this without being root. */
  user: {
    // Directories only: the files in node_modules are hard links to the ones in use.
    ...(process.getuid?.() === 0 && {
      prepare: 'find "$PLACE" -type d -exec chown nobody {} +',
      prefix: ["setpriv", "--reuid=nobody", "--regid=65534", "--clear-groups"],
    }),
  },
  /** Other users cannot reach the copy (mode 700). */
  root: { prepare: 'test "$(id -u)" = 0' },
  zone: { env: { TZ: "Pacific/Kiritimati" } },
  language: {
    prepare: `mkdir "$PLACE/locales" && export LOCPATH="$PLACE/locales" &&
      localedef --inputfile=sv_SE --charmap=UTF-8 "$LOCPATH/sv_SE.UTF-8"`,
    env: { LANG: "sv_SE.UTF-8", LC_ALL: "sv_SE.UTF-8" },
  },
  /** One of two network interfaces has only a link-local IPv6 address. */
  interface: {
    namespaces: ["--net"],
    prepare: `ip link set lo up && ip link add hostile0 type veth peer name hostile1 &&
      ip link set hostile0 up && ip link set hostile1 up && ip address add 192.0.2.1/24 dev hostile1`,
  },
  /** Also for processes without environment variables. */
  date: {
    namespaces: ["--mount"],
    prepare: `printf '%s' "$CLOCK" | cc -shared -fPIC -DOFFSET_S="$OFFSET_S" -x c - -o "$PLACE/clock.so" &&
      mkdir "$PLACE/etc" && cp -a /etc/. "$PLACE/etc" && cp "$PLACE/clock.so" "$PLACE/etc/" &&
      mount --bind "$PLACE/etc" /etc && echo /etc/clock.so > /etc/ld.so.preload`,
    env: { CLOCK },
  },
  /** As in Docker. */
  shm: {
    namespaces: ["--mount"],
    prepare: "mount -t tmpfs -o size=64m,noexec,nosuid,nodev tmpfs /dev/shm",
  },
  answers: {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LATE_ANSWERS)}` },
  },
  /** Beside two busy loops. */
  load: { prefix: ["nice"] },
};

/** The packages are hard links, or copies if links are not possible. */
const COPY_PROJECT = `
mkdir "$1" && git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=- | tar -x -C "$1"
for folder in node_modules scripts/node-runtime/node_modules; do
  test -d "$folder" || continue
  mkdir -p "$1/$folder"
  packages() { find "$folder" -mindepth 1 -maxdepth 1 ! -name .cache ! -name ".vite*" -exec cp "$@" {} +; }
  packages -al -t "$1/$folder" 2>/dev/null || packages -af -t "$1/$folder"
done
`;

const words = process.argv.slice(2);
const end = words.includes("--") ? words.indexOf("--") : words.length;
const names = words.slice(0, end);
const command = words.length > end + 1 ? words.slice(end + 1) : ["vitest", "run", "--project", "fast"];
const all = Object.keys(CONDITIONS);
if (names.some((name) => !all.includes(name)) || (names.includes("user") && names.includes("root"))) {
  console.error(`Choose from ${all.join(", ")}, and only one of user and root.`);
  process.exit(2);
}

const runs = names.length > 0 ? [names] : ["root", "user"].map((left) => all.filter((name) => name !== left));
for (const run of runs) {
  const status = await runUnder(run);
  console.log(`\n${run.join(", ")}: ${status === 0 ? "passed" : "FAILED"}`);
  process.exitCode ||= status;
}

async function runUnder(run: readonly string[]): Promise<number> {
  // The date is last: it also changes for the commands after it.
  const chosen = Object.entries(CONDITIONS).filter(([name]) => run.includes(name));
  const conditions = chosen.toSorted(([a], [b]) => Number(a === "date") - Number(b === "date")).map(([, one]) => one);
  // Mode 700 until it is clear that `root` is not one of the conditions.
  const place = mkdtempSync(join(tmpdir(), "hostile-"));
  const started: ChildProcess[] = [];
  const clear = () => {
    // The groups: also what a failed test left running.
    for (const { pid } of started) spawnSync("kill", ["-KILL", "--", `-${pid}`], { stdio: "ignore" });
    rmSync(place, { recursive: true, force: true, maxRetries: 10 });
  };
  const interrupt = () => process.exit(130);
  process.once("exit", clear).once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    if (!run.includes("root")) chmodSync(place, 0o755);
    mkdirSync(join(place, "home"));
    const copy = join(place, run.includes("path") ? "a cöpy of the clone, ä" : "copy");
    execFileSync("sh", ["-c", COPY_PROJECT, "sh", copy], { stdio: "inherit" });

    const env = {
      ...process.env,
      ...Object.assign({}, ...conditions.map((condition) => condition.env)),
      PLACE: place,
      OFFSET_S: String(Math.round((Date.parse(DATE) - Date.now()) / 1000)),
      HOME: join(place, "home"),
      PATH: [join(copy, "node_modules", ".bin"), process.env.PATH, "/usr/sbin", "/sbin"].join(delimiter),
    };
    const namespaces = [...new Set(conditions.flatMap((condition) => condition.namespaces ?? []))];
    // Ends with an error if a condition is not possible on this machine.
    const steps = [...conditions.flatMap(({ prepare }) => prepare ?? []), 'exec "$@"'].join(" && ");
    const prefix = conditions.flatMap((condition) => condition.prefix ?? []);
    const loops = run.includes("load") ? 2 : 0;
    for (let loop = 0; loop < loops; loop += 1) {
      started.push(spawn("sh", ["-c", "while :; do :; done"], { detached: true }));
    }
    const tests = spawn("unshare", [...namespaces, "sh", "-c", steps, "sh", ...prefix, ...command], {
      cwd: copy,
      env,
      stdio: "inherit",
      detached: true,
    });
    started.push(tests);
    const [status] = await once(tests, "exit");
    return status ?? 1;
  } finally {
    process.off("exit", clear).off("SIGINT", interrupt).off("SIGTERM", interrupt);
    clear();
  }
}

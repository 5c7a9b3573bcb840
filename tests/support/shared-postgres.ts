import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import { connectPostgres, type PostgresConnection } from "../../scripts/run-postgres.ts";

/**
 * A database of its own on the PostgreSQL that all test files share, which goes on when this is stopped. A test that stops
 * the server, or fills it with load that others would feel, starts one of its own instead.
 */
export async function sharePostgres(): Promise<PostgresConnection> {
  const answer = await fetch(inject("postgresUrl"));
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  const server = await connectPostgres(Number(text));
  // Not only a schema: the lock that nodes take in turns is one for each database.
  const name = `file_${randomUUID().replaceAll("-", "")}`;
  await server.administer(`CREATE DATABASE ${name}`);
  await server.stop();
  return connectPostgres(Number(text), name);
}

/** The schema that a DATABASE_URL of these tests leads to. */
export function schemaOf(databaseUrl = ""): string {
  const schema = /search_path%3D(\w+)/.exec(databaseUrl)?.[1];
  if (!schema) throw new Error(`${databaseUrl} names no schema.`);
  return schema;
}

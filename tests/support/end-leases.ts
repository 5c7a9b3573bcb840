import pg from "pg";

/** Ends the leases of a dead worker, as if their time had passed. */
export async function endLeases(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query("UPDATE deliveries SET leased_until = 1 WHERE leased_until IS NOT NULL");
  await client.end();
}

import pg from "pg";

/** As if the minutes had passed for which a dead worker's deliveries stay its own. */
export async function endLeases(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query("UPDATE deliveries SET leased_until = 1 WHERE leased_until IS NOT NULL");
  await client.end();
}

import pg from "pg";

/** As if the minutes had passed for which a dead worker's messages stay its own. */
export async function endLeases(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query("UPDATE messages SET leased_until = 0 WHERE leased_until IS NOT NULL");
  await client.query("UPDATE messages SET ack_leased_until = 0 WHERE ack_leased_until IS NOT NULL");
  await client.end();
}

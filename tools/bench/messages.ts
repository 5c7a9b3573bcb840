import { startPostgres } from "../../tests/support/run-postgres.ts";
import { startServer } from "../../tests/support/run-server.ts";
import { measureLoad, nextMessage } from "./http-load.ts";
import { type BenchTable, withServer } from "./report.ts";

const CONNECTIONS = 200;
const WARM_UP_SECONDS = 10;
const SECONDS = 5;
const ROUNDS = 3;

export async function benchMessages(): Promise<BenchTable[]> {
  const rows: BenchTable["rows"] = [];
  const postgres = await startPostgres({ isDurable: true });
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const databases = { SQLite: {}, PostgreSQL: { DATABASE_URL: await postgres.createDatabase() } };
      for (const [database, env] of Object.entries(databases)) rows.push({ round, database, ...(await measure(env)) });
    }
  } finally {
    await postgres.stop();
  }
  return [
    {
      title: `Messages accepted at ${CONNECTIONS} connections`,
      rows,
      notes: [
        "Each answer means: committed to disk.",
        "PostgreSQL runs on this machine too, with fsync and synchronous_commit on.",
      ],
    },
  ];
}

function measure(env: Readonly<Record<string, string>>) {
  return withServer(
    (folder) => startServer({ ...env, DATA_DIR: folder, LOG_LEVEL: "error" }),
    async ({ port, process }) => {
      const load = { port, connections: CONNECTIONS, request: nextMessage };
      try {
        // Warms up first, because Node compiles the busiest functions within the first seconds.
        await measureLoad({ ...load, seconds: WARM_UP_SECONDS });
        return await measureLoad({ ...load, seconds: SECONDS });
      } finally {
        // A regular stop would wait for the mails in progress.
        process.kill("SIGKILL");
      }
    },
  );
}

import type { Config } from "../../config.ts";
import { SCHEMA_VERSION } from "../../store/migrations.ts";
import { readSchema } from "../../store/open-store.ts";
import { StoreUnavailable } from "../../store/store.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Whether the messages' database answers, and fits this program. Changes nothing in it. */
export async function checkDatabase(config: Pick<Config, "dataDir" | "databaseUrl">): Promise<Finding> {
  const kind = config.databaseUrl === null ? "SQLite" : "PostgreSQL";
  try {
    const { version, losesCommits } = await readSchema(config);
    if (losesCommits) {
      const remedy = "set synchronous_commit to on, or to remote_apply with a standby";
      return fail("database", `${kind} confirms messages before they are on disk (synchronous_commit=off)`, remedy);
    }
    if (version === null) return ok("database", `${kind}, still empty: its tables are made at the first start`);
    if (version === SCHEMA_VERSION) return ok("database", `${kind}, schema ${version}`);
    return version < SCHEMA_VERSION
      ? warn("database", `${kind}, schema ${version}: brought up to ${SCHEMA_VERSION} at the next start`, "back it up")
      : fail("database", `${kind}, schema ${version} of a newer program`, "run that version, or restore a backup");
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const remedy = config.databaseUrl === null ? "restore a backup" : "correct DATABASE_URL, or start the database";
    return fail("database", error.message, remedy);
  }
}

import { resolve } from "node:path";
import type { Config } from "../config.ts";
import { OperatorError } from "../operator-error.ts";
import { rescueMessages } from "../store/rescue.ts";

/** Not an operation of the router, because the store may be too damaged to open. */
export async function rescue({ dataDir, databaseUrl }: Pick<Config, "dataDir" | "databaseUrl">, file: string) {
  if (databaseUrl !== null)
    throw new OperatorError({
      problem: "rescue is only for SQLite",
      remedy: "to rescue a SQLite file, unset DATABASE_URL",
    });
  return rescueMessages(dataDir, resolve(file)).catch(explainUnwritable(file));
}

/** Explains why a new file could not be written. */
export function explainUnwritable(file: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (error.code === undefined) throw error;
    if (error.code === "EEXIST") {
      throw new OperatorError({ problem: `${file} already exists`, remedy: "choose another name" });
    }
    throw new OperatorError({ problem: `${file} cannot be written: ${error.message}` });
  };
}

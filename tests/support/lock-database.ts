import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";

/** Holds the database's write lock, like another program, until the returned function is called. */
export function lockDatabase(dataDir: string): () => void {
  const other = new DatabaseSync(join(dataDir, "messages.db"), { timeout: 5000 });
  other.exec("BEGIN IMMEDIATE");
  const unlock = () => {
    if (other.isOpen) other.close();
  };
  onTestFinished(unlock);
  return unlock;
}

import { resolve } from "node:path";
import { StoreUnavailable } from "../store/store.ts";
import { CommandFailed, defineCommand } from "./command.ts";
import { visible } from "./visible-text.ts";

export const backup = defineCommand({
  name: "backup",
  usage: "FILE",
  summary: "a copy of all messages while the server runs",
  details: `  FILE is a new SQLite database, from PostgreSQL too. To look into it or to restore it, name it messages.db and set
  DATA_DIR to its folder, without DATABASE_URL. It holds personal data: keep it as safe as the database itself.`,
  operands: { least: 1, most: 1 },
  options: {},
  read(_, [file = ""]) {
    return async ({ store, out }) => {
      await store.backup(resolve(file)).catch((error: unknown) => {
        if (error instanceof StoreUnavailable || !(error instanceof Error)) throw error;
        const isThere = "code" in error && error.code === "EEXIST";
        const reason = isThere ? "is there already; name a new file" : `cannot be written: ${error.message}`;
        throw new CommandFailed(`${visible(file)} ${reason}`);
      });
      out(`All messages are copied to ${visible(file)}.\n`);
    };
  },
});

// `node tools/dump-release.ts` writes a database of this version to tests/fixtures/releases: as SQL for each database, and
// the export of its messages. It upgrades the dump of the last release, so that every kind of row is there. Run it once,
// before a release: from then on, tests upgrade it.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { parseConfig } from "../server/config.ts";
import { openPostgres } from "../server/store/postgres.ts";
import { createIndexes, createTables } from "../server/store/schema.ts";
import { APPLICATION_ID, sqliteDialect, sqliteFile } from "../server/store/sqlite.ts";
import { createStore, openDatabase, type Store } from "../server/store/store.ts";
import { allTables } from "../server/store/tables.ts";
import { startPostgres } from "../tests/support/run-postgres.ts";

const RELEASES = "tests/fixtures/releases";
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const last =
  readdirSync(RELEASES)
    .filter((release) => release !== version)
    .sort(byVersion)
    .at(-1) ?? "";
const folder = mkdtempSync(join(tmpdir(), "dump-release-"));
const postgres = await startPostgres();
mkdirSync(join(RELEASES, version), { recursive: true });
try {
  const env = { PATH: process.env.PATH, DATA_DIR: folder };
  await dump("sqlite.sql", sqliteDialect, env, async (sql) => {
    using db = new DatabaseSync(sqliteFile(folder));
    if (!sql.startsWith("SELECT")) db.exec(sql);
    return sql.startsWith("SELECT") ? db.prepare(sql).all() : [];
  });
  const databaseUrl = await postgres.createDatabase();
  const { dialect, close } = await openPostgres(databaseUrl, 1);
  await close();
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await dump(
    "postgres.sql",
    dialect,
    { ...env, DATABASE_URL: databaseUrl },
    async (sql) => (await client.query(sql)).rows,
  );
  await client.end();
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true });
}

type Rows = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

async function dump(file: string, dialect: typeof sqliteDialect, env: NodeJS.ProcessEnv, run: Rows): Promise<void> {
  const before = readFileSync(join(RELEASES, last, file), "utf8");
  await run(before);
  const settings = { ...parseConfig(env), account: "Grace" };
  const store = await createStore(await openDatabase(settings), settings);
  await addRows(store);
  await store.close();
  const statements = [...createTables(dialect), ...createIndexes(dialect)];
  const numbered: string[] = [];
  const rows: string[] = [];
  for (const [table] of allTables()) {
    const stored = await run(`SELECT * FROM ${table} ORDER BY 1, 2`);
    if (stored[0] && "id" in stored[0]) numbered.push(table);
    for (const row of stored) {
      const ids = "id" in row ? ` ${dialect.keptIds}` : "";
      const values = Object.values(row).map((value) => (typeof value === "string" ? quoted(value) : String(value)));
      rows.push(`INSERT INTO ${table} (${Object.keys(row).join(", ")})${ids.trimEnd()} VALUES (${values.join(", ")})`);
    }
  }
  const isSqlite = dialect === sqliteDialect;
  const end = isSqlite ? [`PRAGMA application_id = ${APPLICATION_ID}`] : numbered.map(dialect.continueIds);
  const text = [...statements, ...rows, ...end].map((statement) => `${statement};\n`).join("");
  writeFileSync(join(RELEASES, version, file), text);
  const exported = execFileSync(process.execPath, ["desk/command.ts", "export", "--json"], {
    env,
    encoding: "utf8",
  });
  writeFileSync(join(RELEASES, version, "messages.json"), exported);
}

async function addRows({ mailbox, messages, actions, people, replies }: Store): Promise<void> {
  const now = new Date("2026-01-16T09:00:00Z");
  const [delivered] = await messages.list({ state: "delivered" });
  if (!delivered) throw new Error(`The dump of ${last} has no delivered message`);
  await replies.saveDraft(delivered.reference, { subject: "Not sent yet", text: "Dear Ada", note: "" }, now);
  await actions.addNote(delivered.reference, "Noted with a name", now);
  await people.rectify(delivered.email, { email: "former@example.com" }, now);
  await mailbox.lease(["INBOX"], "token", 1000, now);
  await mailbox.begin({ name: "INBOX", uidValidity: 1, lastUid: 0 }, "token", now);
  const { id, reference } = delivered;
  const answer = { id, reference, sender: "grace@example.com", senderName: "Grace", isOfSender: true };
  const mail = {
    mailId: "<1@mail.example>",
    subject: "Re: wind",
    text: "Tuesday, please",
    attachments: [{ name: "plan.pdf", bytes: 1000 }],
  };
  await mailbox.record("INBOX", "token", 1, { ...answer, ...mail, kind: "received", sentAt: now }, now);
  await people.erase("ivan@example.com");
  await people.finishErasure();
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function byVersion(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}

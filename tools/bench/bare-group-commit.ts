// The limit to compare with: a bare Node server that parses, inserts and commits in groups, and does nothing else.
// Started by tools/bench/messages.ts with the database's file as its argument.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";

const db = new DatabaseSync(process.argv[2] ?? "bare.db");
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
db.exec(
  "CREATE TABLE messages (id INTEGER PRIMARY KEY, name TEXT, email TEXT, phone TEXT, country TEXT, message TEXT)",
);
const insert = db.prepare("INSERT INTO messages (name, email, phone, country, message) VALUES (?, ?, ?, ?, ?)");
let waiting: { body: Record<string, string>; response: ServerResponse }[] = [];

function commit(): void {
  const group = waiting;
  waiting = [];
  db.exec("BEGIN IMMEDIATE");
  for (const { body } of group) {
    insert.run(body.name ?? "", body.email ?? "", body.phone ?? "", body.country ?? "", body.message ?? "");
  }
  db.exec("COMMIT");
  const answer = '{"success":true}';
  for (const { response } of group) {
    response.writeHead(200, { "content-type": "application/json", "content-length": answer.length }).end(answer);
  }
}

const server = createServer((request, response) => {
  let text = "";
  request.on("data", (chunk) => {
    text += chunk;
  });
  request.on("end", () => {
    if (waiting.length === 0) setImmediate(commit);
    waiting.push({ body: JSON.parse(text), response });
  });
});
server.listen(0, "127.0.0.1", () => console.log(`listening on localhost:${(server.address() as AddressInfo).port}`));

// Bare Node servers with a single task, as an upper bound for the comparison. The benchmarks start them:
//   node tools/bench/bare-servers.ts pages <folder>    sends compressed pages from memory
//   node tools/bench/bare-servers.ts messages <file>   parses messages and commits them to SQLite in groups
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type OutgoingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CONTENT_TYPE } from "../../contract/response-headers.ts";

const [kind, path = ""] = process.argv.slice(2);
const server = createServer(kind === "pages" ? servePages(path) : acceptMessages(path));
server.listen(0, "127.0.0.1", () => console.log(`listening on localhost:${(server.address() as AddressInfo).port}`));

function servePages(folder: string): RequestListener {
  const answers = new Map<string, { body: Buffer; headers: OutgoingHttpHeaders }>();
  // Sorted, so that the compressed variant of a file comes after it and replaces it.
  for (const name of readdirSync(folder, { recursive: true }).map(String).sort()) {
    const file = name.replace(/\.br$/, "");
    const type = CONTENT_TYPE[extname(file)];
    if (type === undefined) continue;
    const body = readFileSync(join(folder, name));
    answers.set(`/${file.replace(/(^|\/)index\.html$/, "")}`, {
      body,
      headers: {
        "content-type": type,
        "content-length": body.length,
        "cache-control": "no-cache",
        etag: '"bare"',
        ...(name !== file && { "content-encoding": "br" }),
      },
    });
  }
  return (request, response) => {
    const answer = answers.get(request.url ?? "");
    if (!answer) response.writeHead(404, { "content-length": 0 }).end();
    else if (request.headers["if-none-match"] === '"bare"') response.writeHead(304, { etag: '"bare"' }).end();
    else response.writeHead(200, answer.headers).end(request.method === "HEAD" ? undefined : answer.body);
  };
}

function acceptMessages(file: string): RequestListener {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  db.exec(
    "CREATE TABLE messages (id INTEGER PRIMARY KEY, name TEXT, email TEXT, phone TEXT, country TEXT, message TEXT)",
  );
  const insert = db.prepare("INSERT INTO messages (name, email, phone, country, message) VALUES (?, ?, ?, ?, ?)");
  let waiting: { body: Record<string, string>; response: ServerResponse }[] = [];

  const commit = () => {
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
  };
  return (request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      if (waiting.length === 0) setImmediate(commit);
      waiting.push({ body: JSON.parse(text), response });
    });
  };
}

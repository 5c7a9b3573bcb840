// A bare Node server that sends the compressed pages of a folder from memory: an upper bound for the comparison.
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { CONTENT_TYPE } from "../../contract/response-headers.ts";

const folder = process.argv[2] ?? "";
const answers = new Map<string, { body: Buffer; headers: OutgoingHttpHeaders }>();
// Sorted, so that the compressed variant of a file comes after it and replaces it.
for (const name of readdirSync(folder, { recursive: true }).map(String).sort()) {
  const file = name.replace(/\.br$/, "");
  const type = CONTENT_TYPE[extname(file)];
  if (type === undefined) continue;
  const body = readFileSync(join(folder, name));
  const encoding = name !== file && { "content-encoding": "br" };
  answers.set(`/${file.replace(/(^|\/)index\.html$/, "")}`, {
    body,
    headers: { "content-type": type, "content-length": body.length, "cache-control": "no-cache", ...encoding },
  });
}
const server = createServer((request, response) => {
  const answer = answers.get(request.url ?? "");
  if (answer) response.writeHead(200, answer.headers).end(answer.body);
  else response.writeHead(404, { "content-length": 0 }).end();
});
server.listen(0, "127.0.0.1", () => console.log(`listening on localhost:${(server.address() as AddressInfo).port}`));

// The limit to compare with: bare node:http that holds compressed pages and sends them, and does nothing else. Started
// by the benchmarks with a folder as its argument: the site's build, or the hand-written pages made from it.
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const folder = process.argv[2] ?? "dist";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
  ".avif": "image/avif",
  ".mp4": "video/mp4",
};

const held = new Map(
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extname(entry.name.replace(/\.br$/, "")) in TYPES)
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const body = readFileSync(path);
      const isBrotli = path.endsWith(".br");
      const file = path.slice(folder.length).replace(/\.br$/, "");
      const url = file.replace(/^\/?/, "/").replace(/(.)?\/index\.html$/, "$1") || "/";
      const headers = {
        "content-type": TYPES[extname(file)],
        "content-length": body.length,
        "cache-control": "no-cache",
        etag: '"bare"',
        ...(isBrotli && { "content-encoding": "br" }),
      };
      return [url, isBrotli, { body, headers }] as const;
    })
    // Where a file is compressed, that variant wins.
    .sort(([, a], [, b]) => Number(a) - Number(b))
    .map(([url, , answer]) => [url, answer] as const),
);

const server = createServer((request, response) => {
  const answer = held.get(request.url ?? "");
  if (!answer) response.writeHead(404, { "content-length": 0 }).end();
  else if (request.headers["if-none-match"] === '"bare"') response.writeHead(304, { etag: '"bare"' }).end();
  else response.writeHead(200, answer.headers).end(request.method === "HEAD" ? undefined : answer.body);
});
server.listen(0, "127.0.0.1", () => console.log(`listening on localhost:${(server.address() as AddressInfo).port}`));

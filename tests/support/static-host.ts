import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { CONTENT_TYPE } from "../../contract/response-headers.ts";
import { parseHeadersFile } from "./headers-file.ts";
import { openPort } from "./raw-http.ts";

/**
 * Does only what every static host does: serves a file, a folder's index or 404.html, with the headers of `_headers`.
 */
export async function startStaticHost() {
  const headersFor = parseHeadersFile(await readFile("dist/_headers", "utf8"));
  const host = createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? "/", "http://host");
    const path = join("dist", decodeURI(pathname));
    const isFolder = (await stat(path).catch(() => null))?.isDirectory();
    if (isFolder && !pathname.endsWith("/")) {
      return response.writeHead(301, { location: `${pathname}/${search}` }).end();
    }
    const file = await readFile(isFolder ? join(path, "index.html") : path).catch(() => null);
    response.setHeaders(new Map(Object.entries(headersFor(pathname))));
    if (!file) return response.writeHead(404, { "content-type": "text/html" }).end(await readFile("dist/404.html"));
    const contentType = CONTENT_TYPE[isFolder ? ".html" : extname(path)] ?? "application/octet-stream";
    return response.writeHead(200, { "content-type": contentType }).end(file);
  });
  return {
    url: `http://127.0.0.1:${await openPort(host)}`,
    close() {
      host.close();
      host.closeAllConnections();
    },
  };
}

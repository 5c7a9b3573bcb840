import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { openPort } from "./raw-http.ts";

/**
 * A proxy in front of the real server, for things that not every engine's tools can do: record requests, delay a
 * request, and disconnect the server.
 */
export async function startGate(serverUrl: string) {
  let target = serverUrl;
  /** Method and path of each request so far, e.g. "POST /send-email". */
  const requests: string[] = [];
  const held: { path: RegExp; released: Promise<void> }[] = [];

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "GET", url: path = "/", headers } = incoming;
    requests.push(`${method} ${path}`);
    await held.find((one) => one.path.test(path))?.released;
    const passed = incoming.pipe(request(target + path, { method, headers }));
    const [response] = (await once(passed, "response")) as [IncomingMessage];
    response.pipe(outgoing.writeHead(response.statusCode ?? 502, response.headers));
  }

  const listener = createServer((incoming, outgoing) => {
    // Closes the connection, like a network without a server.
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });
  return {
    url: `http://127.0.0.1:${await openPort(listener)}`,
    requests,
    /** Requests with a matching path wait until the returned function is called. */
    hold(path: RegExp) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.push({ path, released: promise });
      return resolve;
    },
    /** From now on requests go to this server. */
    leadTo(url: string) {
      target = url;
    },
    async close() {
      listener.close();
      listener.closeAllConnections();
    },
  };
}

export type Gate = Awaited<ReturnType<typeof startGate>>;

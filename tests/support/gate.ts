import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/**
 * A proxy before the real server, for what one engine's tools cannot do in another: to see each request, to delay one,
 * and to change what passes. Visitors' browsers meet such proxies too.
 */
export interface Gate {
  url: string;
  /** Method and path of each request so far, e.g. "POST /send-email". */
  requests: string[];
  /** Requests whose path matches wait until the function it gives is called. */
  hold(path: RegExp): () => void;
  /** From now on requests go to this server. */
  leadTo(url: string): void;
  /** Changes the JSON of posts, or the HTML of pages, which then have no security policy. */
  changePost: ((body: Record<string, string>) => object) | null;
  changePage: ((html: string) => string) | null;
  close(): Promise<void>;
}

export async function startGate(serverUrl: string): Promise<Gate> {
  let target = serverUrl;
  const held: { path: RegExp; released: Promise<void> }[] = [];

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "GET", url: path = "/", headers } = incoming;
    gate.requests.push(`${method} ${path}`);
    await held.find((one) => one.path.test(path))?.released;
    let body = await buffer(incoming);
    if (method === "POST" && gate.changePost) {
      body = Buffer.from(JSON.stringify(gate.changePost(JSON.parse(body.toString()))));
    }
    const isPage = gate.changePage !== null && headers.accept?.includes("text/html");
    const passed = request(target + path, {
      method,
      headers: {
        ...headers,
        ...(body.length > 0 && { "content-length": body.length }),
        ...(isPage && { "accept-encoding": "identity" }),
      },
    });
    passed.end(body);
    const [response] = (await once(passed, "response")) as [IncomingMessage];
    const { statusCode = 502, headers: answered } = response;
    if (!isPage || !gate.changePage) {
      response.pipe(outgoing.writeHead(statusCode, answered));
      return;
    }
    const html = gate.changePage((await buffer(response)).toString());
    const { "content-security-policy": _policy, "content-length": _length, ...others } = answered;
    outgoing.writeHead(statusCode, others).end(html);
  }

  const listener = createServer((incoming, outgoing) => {
    // As the network does when there is no server.
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const gate: Gate = {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    requests: [],
    hold(path) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.push({ path, released: promise });
      return resolve;
    },
    leadTo(url) {
      target = url;
    },
    changePost: null,
    changePage: null,
    async close() {
      listener.close();
      listener.closeAllConnections();
    },
  };
  return gate;
}

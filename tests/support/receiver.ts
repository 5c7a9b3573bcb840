import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { openPort } from "./raw-http.ts";

interface Post<Body> {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: Body;
}

/** Answers a post, or without `post` a HEAD request that checks whether it exists. */
type Answer = (response: ServerResponse, post?: Pick<Post<unknown>, "headers">) => unknown;

/** A real web service on the loopback interface for ALERT_URL or HOOK_URL. It ends with the test. */
export async function startReceiver<Body>(answer: Answer = status(200)) {
  const posts: Post<Body>[] = [];
  const server = createServer(async (request, response) => {
    const text = await textOf(request).catch(() => "");
    const { url: path = "", headers } = request;
    const post = text === "" ? undefined : { path, headers, text, body: JSON.parse(text) as Body };
    if (post) posts.push(post);
    receiver.answer(response, post);
  });
  // Longer than any test, because an attempt would fail if its connection closed just before it was used again.
  server.keepAliveTimeout = 600_000;
  const port = await openPort(server);
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(close);
  /** `posts` includes those that it refused. */
  const receiver = { port, url: `http://127.0.0.1:${port}/hook`, posts, answer, close };
  return receiver;
}

export function status(code: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => response.writeHead(code, headers).end();
}

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

const TEXT = "text/plain; charset=utf-8";

type Headers = Readonly<Record<string, string>>;

/** What the parser gives up on; anything else it cannot read is a bad request. */
const STATUS_OF: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/** Answers what never becomes a request: too slow, too large or not HTTP. The connection ends with it. */
export function answerClientErrors(headers: Headers): (error: Error & { code?: string }, socket: Socket) => void {
  const answers = new Map([400, ...Object.values(STATUS_OF)].map((status) => [status, rawAnswer(status, headers)]));
  return (error, socket) => {
    // Browsers connect ahead and may never ask; and into half an answer none may be written.
    if (!socket.writable || socket.bytesRead === 0 || socket.bytesWritten > 0) socket.destroy();
    else sendLast(socket, answers.get(STATUS_OF[error.code ?? ""] ?? 400) ?? "");
  };
}

/** HTTP/1.1 asks for a `Host`. Says whether it refused. */
export function refuseWithoutHost(request: IncomingMessage, response: ServerResponse, headers: Headers): boolean {
  if (request.headers.host !== undefined || request.httpVersion !== "1.1") return false;
  response.writeHead(400, { ...headers, connection: "close", "content-type": TEXT }).end("Bad Request\n");
  return true;
}

/** Refuses to be a proxy, and expectations other than `100-continue`; Node would answer bare or not at all. */
export function answerOddRequests(app: FastifyInstance, headers: Headers): void {
  const notAllowed = rawAnswer(405, { ...headers, allow: "GET, HEAD" });
  app.server.on("connect", (_request, socket: Socket) => sendLast(socket, notAllowed));
  app.server.on("checkExpectation", (_request, response) => response.writeHead(417, headers).end());
}

/** Said, then closed, whether or not the client listens. */
function sendLast(socket: Socket, answer: string): void {
  socket.on("error", () => socket.destroy());
  socket.write(answer);
  socket.destroySoon();
}

function rawAnswer(status: number, headers: Headers): string {
  const reason = STATUS_CODES[status] ?? "";
  const body = `${reason}\n`;
  const lines = Object.entries({
    ...headers,
    connection: "close",
    "content-type": TEXT,
    "content-length": String(body.length),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n${body}`;
}

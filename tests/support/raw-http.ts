import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import type { AppUnderTest } from "./app.ts";

/** Listens on a port that the system chooses. */
export async function listen({ app }: AppUnderTest): Promise<number> {
  return Number(new URL(await app.listen({ port: 0, host: "127.0.0.1" })).port);
}

/** The same for any other server. */
export async function openPort(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

/** The text of a request that closes its connection. */
export function request(line: string, headers: readonly string[] = [], body = ""): string {
  return [`${line} HTTP/1.1`, "Host: localhost", "Connection: close", ...headers, "", body].join("\r\n");
}

/** Sends bytes unchanged, even if they are invalid, and returns everything received until the end. */
export async function exchange(port: number, text: string): Promise<string> {
  const socket = await openSocket(port);
  socket.write(text);
  return drain(socket);
}

/** Sends the bytes of one request and reads its answer. */
export async function ask(port: number, text: string) {
  return parseAnswer(await exchange(port, text));
}

export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** Everything received until the server closes or resets the connection. */
export function drain(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.on("error", () => {});
  socket.once("close", () => resolve(text));
  return promise;
}

/** Writes one byte at this interval until the socket closes: a client that never finishes and is never idle. */
export function drip(socket: Socket, everyMs: number): void {
  const timer = setInterval(() => socket.write("x"), everyMs);
  socket.once("close", () => clearInterval(timer));
}

/** The path of the film, which is the largest file of the site. */
export function filmPath(): string {
  const path = /\/media\/first-light\.av1[^"]+\.mp4/.exec(readFileSync("dist/site/index.html", "utf8"))?.[0];
  if (!path) throw new Error("The home page names no film.");
  return path;
}

/** The status and the headers of a raw answer, with names in lower case. */
export function parseAnswer(text: string) {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers: Record<string, string> = {};
  for (const [, name = "", value = ""] of lines.map((line) => /^(.*?):\s*(.*?)\s*$/.exec(line) ?? [])) {
    headers[name.toLowerCase()] = value;
  }
  return { status: Number(statusLine.split(" ")[1]), headers, body: rest.join("\r\n\r\n") };
}

import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { openPort } from "./raw-http.ts";

/**
 * `open`: bytes pass. `refused`: every connection is reset at once. `silent`: connections stay open, but no bytes pass; a connection that
 * lost a byte stays silent forever. `trickle`: answers arrive byte by byte. The others wait for a word from the client:
 * with `cut-before` and `cut-after` the connection breaks before or after the word; with `silent-after` it becomes
 * silent.
 */
export type Weather =
  | { kind: "open" | "refused" | "silent" }
  | { kind: "trickle"; byteEveryMs: number }
  | { kind: "cut-before" | "cut-after" | "silent-after"; word: string };

export type Network = Awaited<ReturnType<typeof startNetwork>>;

/** A real network between a program and a server on this machine. The test decides how it behaves. */
export async function startNetwork(targetPort: number) {
  let weather: Weather = { kind: "open" };
  const sockets = new Set<Socket>();

  const serve = (inside: Socket) => {
    const outside = connect(targetPort, "127.0.0.1");
    let isSilent = false;
    inside.on("data", (data) => {
      isSilent ||= weather.kind === "silent";
      if (isSilent) return;
      const isTime = "word" in weather && data.includes(weather.word);
      if (isTime && weather.kind === "cut-before") {
        inside.destroy();
        return;
      }
      if (isTime && weather.kind === "silent-after") isSilent = true;
      outside.write(data);
      if (isTime && weather.kind === "cut-after") inside.destroy();
    });
    outside.on("data", (data) => {
      isSilent ||= weather.kind === "silent";
      if (isSilent || inside.destroyed) return;
      if (weather.kind === "trickle") dripInto(inside, data, weather.byteEveryMs);
      else inside.write(data);
    });
    inside.on("close", () => outside.end());
    outside.on("close", () => isSilent || inside.end());
    for (const socket of [inside, outside]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
  };

  // Listens until the end of the test: meanwhile another program could take a port that was given up.
  const listener = createServer((socket) => (weather.kind === "refused" ? socket.resetAndDestroy() : serve(socket)));
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    listener.close();
    cutAll();
  });

  return {
    port: await openPort(listener),
    become(next: Weather): void {
      weather = next;
      if (next.kind === "refused") cutAll();
    },
  };
}

function dripInto(socket: Socket, data: Buffer, everyMs: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent === data.length || socket.destroyed) clearInterval(timer);
    else socket.write(data.subarray(sent, ++sent));
  }, everyMs);
}

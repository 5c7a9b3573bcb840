import { connect, createServer, type Socket } from "node:net";

export interface Relay {
  port: number;
  /** `silent`: connections stay, and new ones are taken, but nothing passes: what a lost network looks like. */
  become(state: "open" | "silent"): void;
  close(): Promise<void>;
}

/** A network to a loopback port that can be lost and found again. */
export async function startRelay(targetPort: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    return socket;
  };
  const server = createServer((inside) => {
    const outside = keep(connect(targetPort, "127.0.0.1"));
    const pass = (from: Socket, to: Socket) => {
      from.on("data", (data) => void (isSilent || to.write(data)));
      from.on("close", () => to.destroy());
    };
    pass(keep(inside), outside);
    pass(outside, inside);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    become(state) {
      isSilent = state === "silent";
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

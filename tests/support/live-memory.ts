import type { RunningServer } from "./run-server.ts";

/** Start a server with these variables to measure its memory. */
export const MEASURABLE = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

export type Memory = Record<"heldBytes" | "processBytes", number>;

/** The heap after a garbage collection, and the whole process, of a server that was started with MEASURABLE. */
export async function measureMemory(server: RunningServer): Promise<Memory> {
  const address = /Debugger listening on (ws:\S+)/.exec(server.output())?.[1];
  if (!address) throw new Error("The server was not started as MEASURABLE");
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const ask = (id: number, method: string, params = {}) =>
    new Promise<{ result: { result?: { value: Memory } } }>((resolve) => {
      socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)));
      socket.send(JSON.stringify({ id, method, params }));
    });
  await ask(1, "HeapProfiler.collectGarbage");
  const { result } = await ask(2, "Runtime.evaluate", { expression: MEASURE, returnByValue: true });
  socket.close();
  if (!result.result) throw new Error("The server did not say how much memory it holds");
  return result.result.value;
}

const MEASURE = `(({ heapUsed, external, rss }) => ({ heldBytes: heapUsed + external, processBytes: rss }))(
  process.memoryUsage())`;

import type { RunningServer } from "./server.ts";

/** Start a server with these to be able to ask for its memory. */
export const MEASURABLE = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

/** The bytes that a server started as MEASURABLE still holds after its garbage was collected. */
export async function liveMemory(server: RunningServer): Promise<number> {
  const address = /Debugger listening on (ws:\S+)/.exec(server.output())?.[1];
  if (!address) throw new Error("The server was not started as MEASURABLE");
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const ask = (id: number, method: string, params = {}) =>
    new Promise<{ result: { result?: { value: number } } }>((resolve) => {
      socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)));
      socket.send(JSON.stringify({ id, method, params }));
    });
  await ask(1, "HeapProfiler.collectGarbage");
  const expression = "process.memoryUsage().heapUsed + process.memoryUsage().external";
  const { result } = await ask(2, "Runtime.evaluate", { expression });
  socket.close();
  return result.result?.value ?? Number.NaN;
}

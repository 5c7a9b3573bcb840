import { onTestFinished } from "vitest";

/** Stops or closes the started program when the test ends. */
export async function untilEnd<T extends { stop(): unknown } | { close(): unknown }>(starting: Promise<T>): Promise<T> {
  const started = await starting;
  onTestFinished(async () => void (await ("stop" in started ? started.stop() : started.close())));
  return started;
}

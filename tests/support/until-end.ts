import { onTestFinished } from "vitest";

/** What is being started ends with the test: it is stopped or closed then. */
export async function untilEnd<T extends { stop(): unknown } | { close(): unknown }>(starting: Promise<T>): Promise<T> {
  const started = await starting;
  onTestFinished(async () => void (await ("stop" in started ? started.stop() : started.close())));
  return started;
}

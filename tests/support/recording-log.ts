import type { LogEvent } from "../../server/log.ts";

interface LogLine extends LogEvent {
  level: "info" | "warn" | "error";
  text: string;
}

export function createRecordingLog() {
  const lines: LogLine[] = [];
  const waiting = new Set<() => void>();
  const write = (level: LogLine["level"]) => (event: LogEvent, text: string) => {
    lines.push({ ...event, level, text });
    for (const check of waiting) check();
  };
  const find = (event: string, channel?: string) =>
    lines.filter((line) => line.event === event && (channel ?? line.channel) === line.channel);
  return {
    lines,
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    /** Counts the lines of one channel, or of all. */
    count: (event: string, channel?: string) => find(event, channel).length,
    /** Resolves to the `nth` line of this event (from 1) once it is logged. */
    seen(event: string, nth = 1, channel?: string) {
      return new Promise<LogLine>((resolve) => {
        const check = () => {
          const line = find(event, channel)[nth - 1];
          if (line === undefined) return;
          waiting.delete(check);
          resolve(line);
        };
        waiting.add(check);
        check();
      });
    },
  };
}

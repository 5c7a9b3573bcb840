import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedAlert {
  path: string;
  authorization: string | undefined;
  contentType: string | undefined;
  body: {
    text: string;
    troubles: string[];
    queued: number | null;
    oldestAgeSeconds: number | null;
    failed: number | null;
  };
}

export interface AlertReceiver {
  port: number;
  /** Also those that were not taken. */
  readonly alerts: readonly ReceivedAlert[];
  /** The status of its answers from now on; `null`: it never answers. */
  answerWith(status: number | null): void;
  close(): Promise<void>;
}

/** A real web service on the loopback interface, of the kind that ALERT_URL names. */
export async function startAlertReceiver(): Promise<AlertReceiver> {
  const alerts: ReceivedAlert[] = [];
  let status: number | null = 200;
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const { authorization, "content-type": contentType } = request.headers;
      alerts.push({ path: request.url ?? "", authorization, contentType, body: JSON.parse(body) });
      if (status !== null) response.writeHead(status, { location: "/elsewhere" }).end("ok");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    alerts,
    answerWith(next) {
      status = next;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

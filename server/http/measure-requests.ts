import type { RequestListener } from "node:http";
import type { Meter, Route } from "../watch/meter.ts";

/** The same listener, but the meter is told of every answer once it is sent, by kind: a path may be anybody's words. */
export function measured(listener: RequestListener, meter: Meter): RequestListener {
  return (request, response) => {
    const startMs = performance.now();
    response.once("finish", () => {
      // A page that a browser fetched ahead and was denied (pages.ts) is nobody's failure.
      if (response.statusCode === 503 && request.headers["sec-purpose"] !== undefined) return;
      meter.answered(routeOf(request.url ?? ""), response.statusCode, performance.now() - startMs);
    });
    listener(request, response);
  };
}

function routeOf(url: string): Route {
  if (/^\/send-email(\?|$)/.test(url)) return "message";
  if (/^\/(healthz|readyz)(\?|$)/.test(url)) return "health";
  if (url.startsWith("/assets/")) return "asset";
  // A film takes as long as the visitor's network: its times would hide those of the pages.
  return url.startsWith("/media/") ? "film" : "page";
}

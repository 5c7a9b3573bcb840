import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

interface Denial {
  status: 401 | 403;
  message: string;
}

export type Guard = ReturnType<typeof createGuard>;

const NOT_LOCAL: Denial = {
  status: 403,
  message:
    "This inbox is available only at localhost and its own port. If you forward the port, use the same number on both sides.",
};
const NOT_OWN: Denial = { status: 403, message: "This request came from another site." };
const WRONG_TOKEN: Denial = {
  status: 401,
  message: "This address is not valid, or no longer valid. Open the address that the command printed.",
};

/** Decides which requests to accept. Only this machine can connect; its other users and other pages are refused. */
export function createGuard(given?: string) {
  const token = randomBytes(32).toString("base64url");
  const expected = digest(`Bearer ${token}`);
  // Another program that had the same port may have left a service worker there, which would read the token, but not
  // under this name. Browsers resolve it to this machine. A page of an earlier run at a chosen port goes on with the
  // token of the next one, so there the name is that of the database.
  const host = `${given ?? randomBytes(10).toString("hex")}.localhost`;

  function checkPage(request: IncomingMessage): Denial | null {
    const { headers } = request;
    // A person may follow a link, for example in a web terminal. The page shows nothing without a token.
    const isOpened = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
    return isOpened && hasOwnHost(request) ? null : checkOrigin(request);
  }

  function checkOrigin(request: IncomingMessage): Denial | null {
    if (!hasOwnHost(request)) return NOT_LOCAL;
    const { host, origin, "sec-fetch-site": fetchSite = "none" } = request.headers;
    const isOwn = origin === undefined || origin === `http://${host}`;
    return isOwn && ["same-origin", "none"].includes(String(fetchSite)) ? null : NOT_OWN;
  }

  function checkToken({ headers }: IncomingMessage): Denial | null {
    // Compares hashes of equal length, so that the time reveals nothing.
    return timingSafeEqual(digest(headers.authorization ?? ""), expected) ? null : WRONG_TOKEN;
  }

  /** A page of another site can reach this address under that site's name (DNS rebinding), but not under these. */
  function hasOwnHost({ headers, socket }: IncomingMessage): boolean {
    // The other names are for browsers that do not resolve ours.
    return [host, "localhost", "127.0.0.1", "[::1]"].some((name) => headers.host === `${name}:${socket.localPort}`);
  }

  return { token, host, checkPage, checkOrigin, checkToken };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../time.ts";

export interface Denial {
  status: 401 | 403 | 429;
  message: string;
}

export type Guard = ReturnType<typeof createGuard>;

const FREE_TRIES = 10;
const TRIES_WINDOW_MS = 60_000;
const SLOW_ANSWER_MS = 1000;
const MAX_SLOW_ANSWERS = 20;

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
const SLOW_DOWN: Denial = {
  status: 429,
  message: "Too many requests with a wrong key. Try again in a minute.",
};

/** Decides which requests to accept. Only this machine can connect; its other users and other pages are refused. */
export function createGuard(clock: Clock) {
  /** The secret of this run, for the fragment of the URL. */
  const token = randomBytes(32).toString("base64url");
  const expected = digest(`Bearer ${token}`);
  let wrongTriesMs: number[] = [];
  let slowAnswers = 0;

  /** Refuses file requests from other pages, unless a person opens the inbox with a link. */
  function checkPage(request: IncomingMessage): Denial | null {
    const { headers } = request;
    // A person may follow a link, for example in a web terminal. The page shows nothing without a token.
    const isOpened = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
    return isOpened && hasOwnHost(request) ? null : checkOrigin(request);
  }

  /** Refuses calls from other pages. */
  function checkOrigin(request: IncomingMessage): Denial | null {
    if (!hasOwnHost(request)) return NOT_LOCAL;
    const { host, origin, "sec-fetch-site": fetchSite = "none" } = request.headers;
    const isOwn = origin === undefined || origin === `http://${host}`;
    return isOwn && ["same-origin", "none"].includes(String(fetchSite)) ? null : NOT_OWN;
  }

  /** Accepts only requests with the token. Delays wrong tokens after many tries, but never the right one. */
  async function checkToken({ headers }: IncomingMessage): Promise<Denial | null> {
    // Runs first, so that wrong tokens never delay the operator: 32 random bytes cannot be guessed with any number of
    // tries. Compares hashes of equal length, so that the time reveals nothing.
    if (timingSafeEqual(digest(headers.authorization ?? ""), expected)) return null;
    const nowMs = clock.now().getTime();
    wrongTriesMs = wrongTriesMs.filter((atMs) => Math.abs(nowMs - atMs) < TRIES_WINDOW_MS);
    const isSlow = wrongTriesMs.length >= FREE_TRIES;
    if (isSlow && slowAnswers >= MAX_SLOW_ANSWERS) return SLOW_DOWN;
    wrongTriesMs.push(nowMs);
    if (!isSlow) return WRONG_TOKEN;
    slowAnswers += 1;
    await new Promise<void>((resolve) => void clock.setTimer(resolve, SLOW_ANSWER_MS));
    slowAnswers -= 1;
    return SLOW_DOWN;
  }

  return { token, checkPage, checkOrigin, checkToken };
}

/** A page of another site can reach this address under that site's name (DNS rebinding), but not under these. */
function hasOwnHost({ headers, socket }: IncomingMessage): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].some((name) => headers.host === `${name}:${socket.localPort}`);
}

/** A request with any other name was meant for the site, or is an attack by another site. */
export function isForThisMachine({ headers }: IncomingMessage): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(headers.host ?? "");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

import { randomBytes } from "node:crypto";

/** Names requests in the log: unlike any other's, also after a restart and on other nodes. Clients have no say in it. */
export function createRequestIds(): () => string {
  const run = randomBytes(6).toString("base64url");
  let count = 0;
  return () => {
    count += 1;
    return `${run}-${count}`;
  };
}

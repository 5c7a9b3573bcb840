// The last step of a build: starts the server on it and stops it. This checks that the build can be served, and fills Node's
// compile cache: later servers start without the type stripper, sooner and with a quarter less memory, also from a
// read-only folder.
import { startServer } from "./run-server.ts";

const server = await startServer({ LOG_LEVEL: "error" });
const { status } = await fetch(`${server.url}/`).finally(server.stop);
if (status !== 200)
  throw new Error(`The build was written, but a server started on it is not ready (status ${status}).`);

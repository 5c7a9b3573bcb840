// The last step of a build: starts the server on it and stops it. That shows that the build can be served, and fills Node's
// compile cache, so that no later server has to load the type stripper: it starts sooner and needs a quarter less memory,
// also where its folder is read-only.
import { startServer } from "./run-server.ts";

const server = await startServer({ LOG_LEVEL: "error" });
const { status } = await fetch(`${server.url}/`).finally(server.stop);
if (status !== 200)
  throw new Error(`The build was written, but a server started on it is not ready (status ${status}).`);

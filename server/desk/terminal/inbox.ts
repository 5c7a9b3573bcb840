import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import type { Command } from "commander";
import { sitePortsOf } from "../../config.ts";
import { addCommand, type Context, NAME_OPTION } from "./context.ts";

const FILES_DIR = fileURLToPath(new URL("../../../dist-inbox/", import.meta.url));

export function addInbox(root: Command, context: Context): void {
  const { out, err, openDesk, readConfig, untilStopped } = context;
  const options = [
    ["--port <N>", "use this port (default: 4620, or the next one that is free)", Number],
    NAME_OPTION,
  ] as const;
  const notes = `Prints an address that gives access until the command ends: treat it like a password. Press Ctrl-C to
stop the inbox; it stops by itself after eight hours without use. To use it from another machine, forward the port with
ssh: see docs/operations.md.`;
  addCommand(root, "inbox", "open the messages in a browser, on this machine only", options, notes).action(
    async ({ port, name }: { port?: number; name?: string }, command: Command) => {
      if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) {
        command.error("--port is not a whole number from 1 to 65535");
      }
      // Handles Ctrl-C before the address is printed, because the operator may press it immediately.
      const stopped = untilStopped().then(() => "stopped");
      // Loaded on demand, because no other command needs a web server.
      const { DEFAULT_PORT, startInbox } = await import("../browser/serve.ts");
      const running = await startInbox({
        desk: await openDesk({ name }),
        filesDir: FILES_DIR,
        port: port ?? null,
        sitePorts: sitePortsOf(readConfig()),
        onDefect: (error) => err(`${inspect(error)}\n`),
      });
      try {
        const isMoved = port === undefined && running.port !== DEFAULT_PORT;
        if (isMoved) out(`Port ${DEFAULT_PORT} is in use; using ${running.port}.\n`);
        out(`Inbox: ${running.url}\n`);
        const reason = await Promise.race([stopped, running.idle.then(() => "idle")]);
        if (reason === "idle") out("The inbox has ended after eight hours without use.\n");
      } finally {
        await running.close();
      }
    },
  );
}

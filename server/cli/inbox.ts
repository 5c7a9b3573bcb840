import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { channelsOf, sitePortsOf } from "../config.ts";
import { DEFAULT_PORT, startInbox } from "../inbox/serve.ts";
import { type Command, defineCommand, flag, text, wholeNumber } from "./command.ts";

const FILES_DIR = fileURLToPath(new URL("../../dist-inbox/", import.meta.url));

export const inbox: Command = defineCommand({
  name: "inbox",
  summary: "open the messages in a browser, on this machine only",
  options: {
    port: wholeNumber(`use this port (default ${DEFAULT_PORT}, or the next one that is free)`, 65_535),
    open: flag("also open it in the browser"),
    name: text("NAME", "sign notes with this name (default: the name of your account)"),
  },
  notes: `  Prints an address that works until the command ends, for whoever has it: treat it like a password. Press Ctrl-C to
  end it; it ends by itself when nobody has used it for eight hours. On another machine, reach it through ssh:
  see docs/operations.md.`,
  async run({ options: { port, open, name } }, context) {
    const { program, readConfig, openStore, readElectricity, out, untilStopped, reportDefect, account } = context;
    // Before the address is printed: whoever sees it may press Ctrl-C at once.
    const stopped = untilStopped().then(() => "stopped");
    const config = readConfig();
    const running = await startInbox({
      store: await openStore(),
      readElectricity,
      dataDir: config.dataDir,
      program,
      channels: channelsOf(config),
      databaseKind: config.databaseUrl === null ? "SQLite" : "PostgreSQL",
      account: name ?? account,
      filesDir: FILES_DIR,
      port: port ?? null,
      sitePorts: sitePortsOf(config),
      onDefect: reportDefect,
    });
    let removeLink = async () => {};
    try {
      const isMoved = port === undefined && running.port !== DEFAULT_PORT;
      if (isMoved) out(`Port ${DEFAULT_PORT} is in use; using ${running.port}.\n`);
      out(`Inbox: ${running.url}\n`);
      if (open) removeLink = await openInBrowser(running.url);
      const reason = await Promise.race([stopped, running.idle.then(() => "idle")]);
      if (reason === "idle") out("The inbox has ended, because nobody used it for eight hours.\n");
    } finally {
      await removeLink();
      await running.close();
    }
  },
});

/**
 * Through a private file that redirects there, because every user of the machine can read the arguments of a program.
 * Resolves to what removes the file. Without a browser nothing happens: the address has been printed.
 */
async function openInBrowser(url: string): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "inbox-"));
  const file = join(folder, "open.html");
  const page = `<!doctype html><meta charset="utf-8"><title>Inbox</title><meta http-equiv="refresh" content="0; url=${url}">`;
  await writeFile(file, page, { mode: 0o600 });
  const program = platform() === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [pathToFileURL(file).href], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
  return () => rm(folder, { recursive: true, force: true });
}

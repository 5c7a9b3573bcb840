import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "@playwright/test";
import { PROGRAM_PATH } from "../programs.ts";
import { EnginePage } from "./engine.ts";
import { launchFirefox } from "./firefox.ts";
import { startDisplay, WITH_TESTS } from "./webkit.ts";

/** Orca starts slowly, and waits while Firefox is busy. */
const HEARD_WITHIN_MS = 45_000;
/** Silent speech, because Orca writes its utterances to a file. */
const SPEECH_SERVER_CONFIG = `
CommunicationMethod "unix_socket"
AddModule "dummy" "sd_dummy" ""
DefaultModule dummy
LogLevel 0
`;

/** Firefox with the screen reader Orca, on an invisible desktop. */
export async function startScreenReader(origin: string) {
  // A short path, because socket paths have a length limit.
  const folder = await mkdtemp(join(tmpdir(), "orca-"));
  const speechLog = join(folder, "speech.jsonl");
  const customizations = join(folder, ".local/share/orca");
  await mkdir(customizations, { recursive: true });
  await copyFile(join(import.meta.dirname, "orca-customizations.py"), join(customizations, "orca-customizations.py"));
  await writeFile(join(folder, "speechd.conf"), SPEECH_SERVER_CONFIG);

  const display = await startDisplay();
  const env: Record<string, string> = {
    PATH: PROGRAM_PATH,
    LANG: "C.UTF-8",
    HOME: folder,
    XDG_RUNTIME_DIR: folder,
    DISPLAY: display.name,
    GDK_BACKEND: "x11",
    GNOME_ACCESSIBILITY: "1",
    GSETTINGS_BACKEND: "memory",
    SPEECH_LOG: speechLog,
  };
  const programs: ChildProcess[] = [];
  const start = (...command: readonly string[]): ChildProcess => {
    const [file, ...prefix] = WITH_TESTS;
    const program = spawn(file, [...prefix, ...command], { env, stdio: ["ignore", "pipe", "ignore"] });
    programs.push(program);
    return program;
  };
  const closeDesktop = async () => {
    for (const program of programs.toReversed()) {
      program.kill("SIGKILL");
      if (program.exitCode === null && program.signalCode === null) await once(program, "exit");
    }
    await display.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };

  try {
    // Processes that it starts, such as the accessibility bus, end with it.
    const bus = start("dbus-daemon", "--session", "--nofork", "--print-address");
    const [address] = await once(bus.stdout as NodeJS.ReadableStream, "data");
    env.DBUS_SESSION_BUS_ADDRESS = String(address).trim();
    start("openbox").stdout?.resume();
    start("speech-dispatcher", "--run-single", "--config-dir", folder).stdout?.resume();
    const driver = await launchFirefox(
      {},
      {
        headless: false,
        env,
        args: ["--width=1280", "--height=1000"],
        extraPrefsFirefox: { "accessibility.force_disabled": -1 },
      },
    );
    start("orca").stdout?.resume();

    /** Every utterance so far. A no-break space sounds like a space. */
    const transcript = (): readonly string[] =>
      existsSync(speechLog)
        ? readFileSync(speechLog, "utf8")
            .split("\n")
            .slice(0, -1)
            .map((line) => (JSON.parse(line) as string).replaceAll("\u00a0", " "))
        : [];
    let heard = 0;
    const press = promisify(execFile);
    const reader = {
      page: new EnginePage(driver, origin),
      /** Presses keys by their X11 names on the desktop's keyboard, because Orca listens to that. */
      press: (...keys: readonly string[]) => press("xdotool", ["key", "--delay", "50", ...keys], { env }),
      type: (text: string) => press("xdotool", ["type", "--delay", "50", text], { env }),
      /** Resolves once Orca has said all of these texts since the last call, in this order, each within one utterance. */
      async hear(...texts: readonly (string | RegExp)[]): Promise<void> {
        for (const text of texts) {
          const find = () =>
            transcript().findIndex(
              (said, index) => index >= heard && (typeof text === "string" ? said.includes(text) : text.test(said)),
            );
          await expect
            .poll(() => (find() >= 0 ? String(text) : transcript().slice(heard).join("\n")), {
              message: "what Orca says",
              timeout: HEARD_WITHIN_MS,
            })
            .toBe(String(text));
          heard = find() + 1;
        }
      },
      transcript,
      async close() {
        await driver.close();
        await closeDesktop();
      },
    };
    // From now on Orca follows Firefox.
    await reader.hear("Screen reader on.", "Mozilla Firefox frame.", "document web.");
    return reader;
  } catch (error) {
    await closeDesktop();
    throw error;
  }
}

// The programs besides Node that tests and tools run, and where to find them.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** PATH with the folders of nginx on Debian, which are not on every user's PATH. */
export const PROGRAM_PATH = [process.env.PATH ?? "", "/usr/sbin", "/sbin"].join(delimiter);

/** The programs that tests run besides Chromium, with their Debian packages: tools, two browsers, the screen reader. */
export const TEST_PROGRAMS = {
  caddy: ["caddy"],
  dovecot: ["dovecot-imapd"],
  ffmpeg: ["ffmpeg"],
  firefox: ["firefox-esr"],
  mount: ["mount"],
  nginx: ["nginx-light"],
  openssl: ["openssl"],
  orca: ["orca", "at-spi2-core", "dbus-daemon", "firefox-esr", "openbox", "speech-dispatcher", "xdotool", "xvfb"],
  prlimit: ["util-linux"],
  sqlite3: ["sqlite3"],
  strace: ["strace"],
  "systemd-analyze": ["systemd"],
  // The engine, a way to drive it, a display, and decoders for the film.
  webkit: [
    "gir1.2-webkit2-4.1",
    "python3-gi",
    "webkit2gtk-driver",
    "xvfb",
    "gstreamer1.0-plugins-good",
    "gstreamer1.0-plugins-bad",
    "gstreamer1.0-libav",
  ],
} as const satisfies Record<string, readonly string[]>;

/**
 * Whether a program is on the PATH. A program from several Debian packages counts if all of them are installed, which
 * their licence files show.
 */
export function isInstalled(name: string): boolean {
  if (name === "firefox") return findFirefox() !== undefined;
  const packages = Object.entries(TEST_PROGRAMS).find(([program]) => program === name)?.[1] ?? [];
  if (packages.length > 1) return packages.every((one) => existsSync(`/usr/share/doc/${one}/copyright`));
  return PROGRAM_PATH.split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, name)));
}

function firstExisting(...paths: readonly (string | undefined)[]): string | undefined {
  return paths.find((path) => path !== undefined && existsSync(path));
}

/** The path of an installed Chromium or Chrome. If undefined, Playwright uses its own. */
export function findChromium(): string | undefined {
  return firstExisting(
    process.env.CHROMIUM_PATH,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
  );
}

export const HEADLESS_SHELL = "chromium-headless-shell";

/** The path of a Chromium without windows, which needs a quarter less CPU and has no back/forward cache, or undefined. */
export function findHeadlessShell(): string | undefined {
  return firstExisting(process.env.CHROMIUM_PATH, `/usr/bin/${HEADLESS_SHELL}`);
}

/** The path of an installed Firefox, or undefined. */
export function findFirefox(): string | undefined {
  const onMac = "/Applications/Firefox.app/Contents/MacOS/firefox";
  return firstExisting(process.env.FIREFOX_PATH, "/usr/bin/firefox-esr", "/usr/bin/firefox", onMac);
}

/** Allows the browser to run as root, and prevents network traffic other than for the pages that it opens. */
export const CHROMIUM_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Options for Playwright's `chromium.launch`. */
export function chromiumOptions(...flags: readonly string[]) {
  const executablePath = findChromium();
  return { args: [...CHROMIUM_FLAGS, ...flags], ...(executablePath !== undefined && { executablePath }) };
}

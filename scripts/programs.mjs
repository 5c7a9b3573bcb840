// The programs besides Node that tests and tools run, and where to find them. Plain JavaScript, because set-up runs it
// before Node 24 is installed.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** PATH with the folders in which Debian keeps nginx, and which are not on every user's PATH. */
export const PROGRAM_PATH = [process.env.PATH ?? "", "/usr/sbin", "/sbin"].join(delimiter);

/** What `npm test` runs besides the browser, and the Debian package of each program. */
export const TEST_PROGRAMS = {
  caddy: "caddy",
  ffmpeg: "ffmpeg",
  mount: "mount",
  nginx: "nginx-light",
  openssl: "openssl",
  pdftotext: "poppler-utils",
  prlimit: "util-linux",
  promtool: "prometheus",
  strace: "strace",
  "systemd-analyze": "systemd",
};

/** The Debian packages with which tests run WebKit: the engine, a way to drive it, a display, and decoders for the film. */
const WEBKIT_PACKAGES = [
  "gir1.2-webkit2-4.1",
  "python3-gi",
  "webkit2gtk-driver",
  "xvfb",
  "gstreamer1.0-plugins-good",
  "gstreamer1.0-plugins-bad",
  "gstreamer1.0-libav",
];

/** Debian's own Python, because only that one has GTK. */
export const DEBIAN_PYTHON = "/usr/bin/python3";

/** The Debian packages with which tests run the screen reader: Orca, and the desktop around it and Firefox. */
const ORCA_PACKAGES = [
  "orca",
  "at-spi2-core",
  "dbus-daemon",
  "firefox-esr",
  "openbox",
  "speech-dispatcher",
  "xdotool",
  "xvfb",
];

/** The engines that `npm run test:all` runs besides Chromium, and the screen reader. */
export const TEST_ENGINES = {
  firefox: { isInstalled: () => findFirefox() !== undefined, packages: ["firefox-esr"] },
  webkit: { isInstalled: hasWebKit, packages: WEBKIT_PACKAGES },
  orca: { isInstalled: hasOrca, packages: ORCA_PACKAGES },
};

function hasOrca() {
  const programs = ["orca", "dbus-daemon", "openbox", "speech-dispatcher", "xdotool", "Xvfb"];
  return programs.every(isInstalled) && findFirefox() !== undefined;
}

/** What reads and decodes the film, each from another package of decoders. */
const FILM_DECODERS = ["qtdemux", "h264parse", "avdec_h264"];

function hasWebKit() {
  if (!isInstalled("Xvfb") || !isInstalled("WebKitWebDriver") || !existsSync(DEBIAN_PYTHON)) return false;
  // GStreamer is asked through its C library, because the packages do not include its own for Python.
  const code = `
import ctypes, gi
gi.require_version('WebKit2', '4.1')
gst = ctypes.CDLL('libgstreamer-1.0.so.0')
gst.gst_init(None, None)
gst.gst_element_factory_find.restype = ctypes.c_void_p
for name in ${JSON.stringify(FILM_DECODERS)}:
    assert gst.gst_element_factory_find(name.encode()), name
`;
  return spawnSync(DEBIAN_PYTHON, ["-c", code]).status === 0;
}

/** @param {string} name */
export function isInstalled(name) {
  return PROGRAM_PATH.split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, name)));
}

const CHROMIUM_PATHS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** The path of an installed Chromium or Chrome, or undefined: then Playwright's own is used. */
export function findChromium() {
  return [process.env.CHROMIUM_PATH, ...CHROMIUM_PATHS].find((path) => path && existsSync(path));
}

const FIREFOX_PATHS = ["/usr/bin/firefox-esr", "/usr/bin/firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"];

/** The path of an installed Firefox, or undefined. */
export function findFirefox() {
  return [process.env.FIREFOX_PATH, ...FIREFOX_PATHS].find((path) => path && existsSync(path));
}

/** Allows the browser to run as root, and no network traffic except for the pages it opens. */
export const CHROMIUM_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Options for Playwright's `chromium.launch`.
 * @param {readonly string[]} flags
 */
export function chromiumOptions(...flags) {
  const executablePath = findChromium();
  return { args: [...CHROMIUM_FLAGS, ...flags], ...(executablePath && { executablePath }) };
}

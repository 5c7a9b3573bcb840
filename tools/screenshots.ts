// `npm run screenshots` writes every screen and state at five widths, light and dark, to dist/screenshots. It also
// renews the pictures in docs/. Needs the builds and a browser, which the npm script provides.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "@playwright/test";
import sharp from "sharp";
import { chromiumOptions } from "../tests/support/programs.ts";
import { startServer } from "../tests/support/run-server.ts";
import { startSampleInbox } from "./sample-inbox.ts";

const OUT = "dist/screenshots";
const DOCUMENT_PICTURES = { home: "docs/home.jpg", inbox: "docs/inbox.jpg" };
const WIDTHS = [320, 375, 768, 1280, 1920];
/** Represents any request that makes the server fail. */
const FAILURE_PATH = "/made-to-fail";

interface Shot {
  name: string;
  path: string;
  isInbox?: boolean;
  prepare?(page: Page): Promise<void>;
}

const SHOTS: readonly Shot[] = [
  { name: "home", path: "/" },
  { name: "contact", path: "/contact" },
  {
    name: "contact-invalid",
    path: "/contact",
    prepare: (page) => submit(page, { fields: { phone: "Enter digits." } }),
  },
  { name: "contact-estimate", path: "/contact#footprint", prepare: enterAmounts },
  { name: "contact-sent", path: "/contact", prepare: (page) => submit(page) },
  { name: "menu", path: "/contact", prepare: openMenu },
  { name: "privacy", path: "/privacy" },
  { name: "terms", path: "/terms" },
  { name: "cancellation", path: "/cancellation" },
  { name: "delivery", path: "/delivery" },
  { name: "coming-soon", path: "/about" },
  { name: "error", path: FAILURE_PATH },
  { name: "inbox", path: "/", isInbox: true },
  { name: "inbox-selected", path: "/", isInbox: true, prepare: selectMessages },
  {
    name: "inbox-message",
    path: "/?tab=failed",
    isInbox: true,
    prepare: (page) => page.locator(".row a").first().click(),
  },
  {
    name: "inbox-estimate",
    path: "/?search=bakery",
    isInbox: true,
    prepare: (page) => page.locator(".row a").first().click(),
  },
  { name: "inbox-person", path: "/people?email=ada%40example.com", isInbox: true },
];

const inbox = await startSampleInbox();
const server = await startServer({ LOG_LEVEL: "error" });
const browser = await chromium.launch(chromiumOptions());
try {
  await rm(OUT, { recursive: true, force: true });
  await mkdir(OUT, { recursive: true });
  const files: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of WIDTHS) {
      const context = await browser.newContext({
        colorScheme,
        reducedMotion: "reduce",
        viewport: { width, height: 800 },
      });
      for (const shot of SHOTS) files.push(await take(context, shot, `${shot.name}-${width}-${colorScheme}`));
      await context.close();
    }
  }
  for (const [name, picture] of Object.entries(DOCUMENT_PICTURES)) {
    const shot = sharp(join(OUT, `${name}-1280-light.png`));
    const { width = 0 } = await shot.metadata();
    await shot.extract({ left: 0, top: 0, width, height: 800 }).jpeg({ quality: 82, mozjpeg: true }).toFile(picture);
  }
  console.log(`${files.length} screenshots in ${OUT}, and ${Object.values(DOCUMENT_PICTURES).join(" and ")}`);
} finally {
  await browser.close();
  await inbox.stop();
  await server.stop();
}

async function take(context: BrowserContext, { path, isInbox, prepare }: Shot, name: string): Promise<string> {
  const page = await context.newPage();
  await page.route(`**${FAILURE_PATH}`, (route) => route.fulfill({ path: "dist/site/500.html" }));
  // The inbox always waits for updates, so its network is never idle.
  if (isInbox) await page.goto(`${inbox.origin}${path}#${inbox.token}`);
  else await page.goto(server.url + path, { waitUntil: "networkidle" });
  await prepare?.(page);
  if (isInbox) await page.locator(".rows, article, figure").first().waitFor();
  const file = join(OUT, `${name}.png`);
  await page.screenshot({ path: file, fullPage: path !== "/" && !prepare, animations: "disabled" });
  await page.close();
  return file;
}

/** Sends the message. With `answer`, the request gets that answer instead of the server's. */
async function submit(page: Page, answer?: object): Promise<void> {
  if (answer) {
    await page.route("**/send-email", (route) =>
      route.fulfill({ status: 422, json: { success: false, error: "", ...answer } }),
    );
  }
  for (const [label, text] of [
    ["Name", "Ada"],
    ["Email", "ada@example.com"],
    ["Phone Number", answer ? "?" : "+44 20 7946 0000"],
    ["Message", "Hello"],
  ] as const) {
    await page.getByLabel(label, { exact: true }).fill(text);
  }
  await page.getByRole("button", { name: "Submit" }).click();
  const text = answer ? "Failed to send message." : "Message sent successfully!";
  await page.getByText(text).filter({ visible: true }).waitFor();
}

async function enterAmounts(page: Page): Promise<void> {
  for (const [field, amount] of Object.entries({ electricityKwh: "1 500", carKm: "10,000", longFlights: "2" })) {
    await page.locator(`[id="footprint.${field}"]`).fill(amount);
  }
  await page.locator(".footprint-total").waitFor();
}

async function openMenu(page: Page): Promise<void> {
  const toggle = page.getByRole("button", { name: "Menu" });
  if (await toggle.isVisible()) await toggle.click();
}

async function selectMessages(page: Page): Promise<void> {
  for (const row of [0, 2, 3]) await page.locator(".row input").nth(row).check();
}

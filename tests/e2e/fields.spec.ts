import { readFileSync } from "node:fs";
import { expect, test } from "@playwright/test";
import { CONTACT_FIELDS, type ContactField, type ContactMessage, FIELD_NAMES } from "../../contract/contact-message.ts";
import { sent, submit } from "../support/contact.ts";
import { openInboxCommand } from "../support/inbox-command.ts";
import { startMailServer } from "../support/mail-server.ts";
import { parseMail } from "../support/parse-mail.ts";
import { runCli } from "../support/run-cli.ts";
import { startServer } from "../support/run-server.ts";

/** A word of its own for each field, as a visitor types it. */
const wordsOf = (texts: string, email: string, tel: string, country: string) =>
  Object.fromEntries(
    FIELD_NAMES.map((name) => {
      const { input } = CONTACT_FIELDS[name];
      const words = { email, tel, country, text: `${texts} ${name}`, textarea: `${texts} ${name}` };
      return [name, words[input]];
    }),
  ) as ContactMessage;
const TYPED = wordsOf("Typed", "typed@example.com", "+44 20 7946 0001", "FR");
const CORRECTED = wordsOf("Corrected", "corrected@example.com", "+44 20 7946 0002", "DE");

/** As shown to people. */
const shown = (name: ContactField) => (CONTACT_FIELDS[name].input === "country" ? "France" : TYPED[name]);

test("what is typed in any field arrives wherever messages are sent, shown, found or corrected", async ({ page }) => {
  const mailServer = await startMailServer();
  const site = await startServer({
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_TO: "team@example.org",
    MAIL_FROM: "site@example.org",
  });
  const env = { DATA_DIR: site.dataDir };
  const cli = async (...args: string[]) => (await runCli(env, ...args)).out;
  const inbox = await openInboxCommand(env);
  try {
    const missing: string[] = [];
    /** Reports the fields that do not have this value in this place. */
    const expectIn = (place: string, isThere: (name: ContactField) => boolean, names = FIELD_NAMES) =>
      missing.push(...names.filter((name) => !isThere(name)).map((name) => `${name}: not in ${place}`));

    await page.goto(`${site.url}/contact`);
    await page.locator("select[name=country] option:nth-child(2)").waitFor({ state: "attached" });
    for (const name of FIELD_NAMES) {
      const { label, formLabel = label, input } = CONTACT_FIELDS[name];
      const control = page.locator("form").getByLabel(formLabel, { exact: true });
      await (input === "country" ? control.selectOption(TYPED[name]) : control.fill(TYPED[name]));
    }
    await submit(page).click();
    await expect(sent(page)).toBeVisible();
    const [{ reference }] = JSON.parse(await cli("list", "--json"));

    await expect.poll(() => mailServer.mails.length).toBe(1);
    expect(mailServer.mails).toMatchObject([{ sender: "site@example.org", recipients: ["team@example.org"] }]);
    const mail = parseMail(mailServer.mails[0]?.raw ?? Buffer.alloc(0));
    expectIn("the mail", (name) => mail.text.includes(shown(name)));

    const [header = [], row = []] = (await cli("export", "--csv"))
      .trim()
      .split("\r\n")
      .map((line) => line.split(","));
    expectIn("the CSV export", (name) => row[header.indexOf(name)]?.replace(/^'/, "") === TYPED[name]);
    const [json] = JSON.parse(await cli("export", "--json"));
    expectIn("the JSON export", (name) => json[name] === TYPED[name]);
    const { messages } = JSON.parse(await cli("privacy", "export", TYPED.email));
    expectIn("the privacy export", (name) => messages[0][name] === TYPED[name]);
    const detail = await cli("show", reference);
    expectIn("messages show", (name) => detail.includes(TYPED[name]));
    const found = new Map<string, boolean>();
    for (const name of FIELD_NAMES) found.set(name, (await cli("list", "--search", TYPED[name])).includes(reference));
    expectIn("the search", (name) => found.get(name) === true);

    await page.goto(inbox.url);
    const item = await page.locator(".row").innerText();
    expectIn("the inbox's list", (name) => item.includes(shown(name)) === CONTACT_FIELDS[name].isListed);
    await page.locator(".row a").click();
    await expect(page.getByRole("heading", { name: "Sender" })).toBeVisible();
    const screen = await page.getByRole("main").innerText();
    expectIn("the inbox's message", (name) => screen.includes(shown(name)));

    await page.getByRole("link", { name: TYPED.email }).click();
    await page.getByRole("button", { name: "Correct" }).click();
    const dialog = page.getByRole("dialog");
    for (const name of FIELD_NAMES) {
      const { label, input } = CONTACT_FIELDS[name];
      const control = dialog.getByLabel(label, { exact: true });
      expect(await control.inputValue(), `${name} in the inbox's correction`).toBe(TYPED[name]);
      await (input === "country" ? control.selectOption(CORRECTED[name]) : control.fill(CORRECTED[name]));
    }
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("1 message corrected.")).toBeVisible();
    const [corrected] = JSON.parse(await cli("export", "--json"));
    expectIn("the inbox's correction", (name) => corrected[name] === CORRECTED[name]);
    const options = FIELD_NAMES.flatMap((name) => [`--${name}`, TYPED[name]]);
    await cli("privacy", "rectify", CORRECTED.email, ...options);
    const [rectified] = JSON.parse(await cli("export", "--json"));
    expectIn("privacy rectify", (name) => rectified[name] === TYPED[name]);

    const policy = readFileSync("app/policies/privacy.md", "utf8");
    const collected = policy.slice(
      policy.indexOf("Information you give us"),
      policy.indexOf("**Footprint estimate.**"),
    );
    const posted = policy.split("\n").find((line) => line.includes("is also passed on")) ?? "";
    const isNamed = (part: string) => (name: ContactField) =>
      name === "message" || part.toLowerCase().includes(CONTACT_FIELDS[name].noun);
    expectIn("the privacy policy, information we collect", isNamed(collected));
    expectIn("the privacy policy, what is passed on", isNamed(posted));
    expect(missing).toEqual([]);
  } finally {
    await inbox.stop();
    await site.stop();
    await mailServer.close();
  }
});

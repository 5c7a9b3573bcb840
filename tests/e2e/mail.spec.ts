import { expect } from "@playwright/test";
import { type RunningServer, startServer } from "../../scripts/run-server.ts";
import { fillForm, VISITOR } from "../support/contact.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { parseMail } from "../support/parse-mail.ts";
import { test as base } from "../support/site.ts";

/** A site whose mail goes to a real SMTP server. */
const test = base.extend<object, { mailServer: MailServer; site: RunningServer }>({
  mailServer: [
    async ({ browserName: _ }, use) => {
      const mailServer = await startMailServer();
      await use(mailServer);
      await mailServer.close();
    },
    { scope: "worker" },
  ],
  site: [
    async ({ mailServer }, use) => {
      const smtpUrl = `smtp://127.0.0.1:${mailServer.port}`;
      const site = await startServer({ SMTP_URL: smtpUrl, MAIL_TO: "team@example.org", MAIL_FROM: "site@example.org" });
      await use(site);
      await site.stop();
    },
    { scope: "worker" },
  ],
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(`${javaScriptEnabled ? "with" : "without"} JavaScript`, () => {
    test.use({ javaScriptEnabled });

    test("fill, submit, see the alert and the reference, read the mail that arrived", async ({ page, mailServer }) => {
      const message = `Read me ${javaScriptEnabled}\nTwo lines & <b>no</b> markup`;
      const country = javaScriptEnabled ? VISITOR.country : "";
      await page.goto("/contact");
      if (javaScriptEnabled) await page.locator("option[value=GB]").waitFor({ state: "attached" });
      await fillForm(page, { ...VISITOR, message, country });
      await page.getByRole("button", { name: "Submit" }).click();
      const status = page.getByRole("status").filter({ visible: true });
      await expect(status.getByText("Message sent successfully!", { exact: true })).toBeVisible();
      const reference = /BC-\w{4}-\w{2}/.exec((await status.textContent()) ?? "")?.[0] ?? "none";

      const arrived = () => mailServer.mails.filter(({ raw }) => raw.includes(reference));
      await expect.poll(() => arrived().length).toBe(1);
      const [received] = arrived();
      if (!received) throw new Error("no mail");
      const mail = parseMail(received.raw);
      expect(received.recipients).toEqual(["team@example.org"]);
      expect(mail.mailbox("From").address).toBe("site@example.org");
      expect(mail.mailbox("Reply-To")).toEqual({ name: VISITOR.name, address: VISITOR.email });
      expect(mail.header("Subject")).toContain(reference);
      expect(mail.header("Subject")).toContain(VISITOR.name);
      expect(mail.text).toContain(message);
      expect(mail.html).not.toContain("<b>no</b>");
      if (country) expect(mail.header("Subject")).toContain("United Kingdom");
    });
  });
}

import { expect } from "@playwright/test";
import { formatTotal } from "../../contract/footprint/fields.ts";
import { type RunningServer, startServer } from "../../scripts/run-server.ts";
import { estimateOf } from "../store-contract/samples.ts";
import { fillForm, VISITOR } from "../support/contact.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { parseMail } from "../support/parse-mail.ts";
import { test } from "../support/site.ts";

/** A site that sends mail to a real SMTP server. */
let site: RunningServer | undefined;
let mailServer: MailServer;
test.beforeAll(async () => {
  mailServer = await startMailServer();
  site = await startServer({
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_TO: "team@example.org",
    MAIL_FROM: "site@example.org",
  });
});
test.afterAll(async () => {
  await site?.stop();
  await mailServer.close();
});
// Playwright also reads this before `beforeAll` has started the site.
test.use({ baseURL: ({ browserName: _ }, use) => use(site?.url) });

for (const javaScriptEnabled of [true, false]) {
  test.describe(`${javaScriptEnabled ? "with" : "without"} JavaScript`, () => {
    test.use({ javaScriptEnabled });

    test("a submitted message shows the alert with its reference, and arrives as a mail", async ({ page }) => {
      const message = `Read me ${javaScriptEnabled}\nTwo lines & <b>no</b> markup`;
      const country = javaScriptEnabled ? VISITOR.country : "";
      await page.goto("/contact");
      if (javaScriptEnabled) await page.locator("option[value=GB]").waitFor({ state: "attached" });
      await fillForm(page, { ...VISITOR, message, country });
      await page.getByText("Estimate your footprint").click();
      await page.getByLabel("Distance", { exact: true }).fill("10 000");
      await page.getByLabel("Electricity (kWh)").fill("1,234.5");
      await page.getByRole("button", { name: "Submit" }).click();
      const status = page.getByRole("status").filter({ visible: true });
      await expect(status.getByText("Message sent successfully!", { exact: true })).toBeInViewport();
      const { totalKg } = estimateOf({ carKm: 10_000, electricityKwh: 1234.5 }, country);
      await expect(status.filter({ hasText: "reference" })).toContainText(formatTotal(totalKg));
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
      expect(mail.text).toContain(`Footprint estimate: ${formatTotal(totalKg)}\nElectricity: 1,234.5 kWh (`);
      expect(mail.html).toContain("<td>10,000 km, petrol</td>");
      if (country) expect(mail.header("Subject")).toContain("United Kingdom");
    });
  });
}

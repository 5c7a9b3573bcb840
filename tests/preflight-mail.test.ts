import { Resolver } from "node:dns/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../scripts/free-port.ts";
import { checkMailboxes, checkSmtp } from "../server/cli/preflight/check-mail.ts";
import { checkSenderDomain } from "../server/cli/preflight/check-sender-domain.ts";
import { startDnsServer, startSilentDnsServer } from "./support/dns-server.ts";
import { startMailServer } from "./support/mail-server.ts";

describe("the mail server", () => {
  test("lets us in, or not, and the password is not shown", async () => {
    const server = await startMailServer({ hasTls: true });
    onTestFinished(() => server.close());
    server.expectPassword("hunter2");
    const url = (password: string) =>
      `smtp://website:${password}@127.0.0.1:${server.port}?tls.rejectUnauthorized=false`;
    expect(await checkSmtp(url("hunter2"))).toMatchObject({
      state: "ok",
      detail: `127.0.0.1:${server.port} accepts the sign-in`,
    });
    const refused = await checkSmtp(url("hunter3"));
    expect(refused).toMatchObject({ state: "fail", detail: expect.stringMatching(/refused the sign-in/) });
    expect(JSON.stringify(refused)).not.toContain("hunter3");
    expect(server.mails).toEqual([]);
  });

  test("says nothing: given up in time", async () => {
    const server = await startMailServer();
    onTestFinished(() => server.close());
    server.behave({ kind: "hang-before-greeting" });
    const limits = { connectMs: 200, silenceMs: 200, attemptMs: 400 };
    expect(await checkSmtp(`smtp://127.0.0.1:${server.port}`, limits)).toMatchObject({ state: "fail" });
  });

  test("is not there, or not set, and mailboxes are placeholders", async () => {
    expect(await checkSmtp(`smtp://127.0.0.1:${await findFreePort()}`)).toMatchObject({
      state: "fail",
      detail: expect.stringMatching(/ECONNREFUSED/),
    });
    expect(await checkSmtp(null)).toMatchObject({ state: "fail", remedy: expect.stringMatching(/^set SMTP_URL/) });
    const mailboxes = checkMailboxes({ mailTo: "team@brighter-carbon.com", mailFrom: "x@mail.example.com" });
    expect(mailboxes.map(({ name, state }) => `${name} ${state}`)).toEqual(["MAIL_TO ok", "MAIL_FROM fail"]);
  });
});

describe("the sender's domain", () => {
  const resolverOf = (server: string) => {
    const resolver = new Resolver({ timeout: 200, tries: 1 });
    resolver.setServers([server]);
    return resolver;
  };
  const SPF = `v=spf1 ${"include:a-long-name-of-a-provider.net ".repeat(8)}-all`;

  test("has SPF, and DMARC of its own or of the domain above it", async () => {
    const records = { "mail.company.com": ["other", SPF], "_dmarc.company.com": ["v=DMARC1; p=reject"] };
    const resolver = resolverOf(await startDnsServer(records));
    expect(await checkSenderDomain("mail.company.com", resolver)).toMatchObject([
      { name: "SPF record", state: "ok", detail: `mail.company.com: ${SPF}` },
      { name: "DMARC record", state: "ok", detail: "_dmarc.company.com: v=DMARC1; p=reject" },
    ]);
  });

  test.each([
    { records: { "company.com": ["other"] }, spf: "warn", detail: /has none/ },
    { records: { "company.com": [] }, spf: "warn", detail: /has none/ },
    { records: { "company.com": ["v=spf1 -all", "v=spf1 ~all"] }, spf: "warn", detail: /has 2 of them/ },
    { records: {}, spf: "fail", detail: /there is no domain company\.com/ },
  ])("lacks them: $detail", async ({ records, spf, detail }) => {
    const found = await checkSenderDomain("company.com", resolverOf(await startDnsServer({ ...records })));
    expect(found).toMatchObject([
      { state: spf, detail: expect.stringMatching(detail) },
      { name: "DMARC record", state: "warn", remedy: expect.stringContaining("_dmarc.company.com") },
    ]);
  });

  test("cannot be looked up where DNS does not answer", async () => {
    const found = await checkSenderDomain("company.com", resolverOf(await startSilentDnsServer()));
    expect(found).toMatchObject([
      { state: "warn", detail: "could not look up company.com: no answer from DNS" },
      { state: "warn", detail: "could not look up _dmarc.company.com: no answer from DNS" },
    ]);
  });
});

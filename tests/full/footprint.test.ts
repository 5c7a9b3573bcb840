import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeInputs, estimateSummary } from "../../contract/footprint.ts";
import { formatTotal } from "../../contract/footprint-fields.ts";
import { startServer } from "../../scripts/run-server.ts";
import { estimateOf } from "../store-contract/samples.ts";
import { startMailServer } from "../support/mail-server.ts";
import { parseMail } from "../support/parse-mail.ts";
import { runCli } from "../support/run-cli.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { sharePostgres } from "../support/shared-postgres.ts";

const VISITOR = { name: "Ada", email: "ada@example.com", phone: "1", country: "IN" };
const AMOUNTS = { electricityKwh: "1 234,56", carKm: "10,000", carFuel: "hybrid", shortFlights: "3", hotelNights: "2" };
const INPUTS = { ...AMOUNTS, for: "organisation", people: "40" };
const ESTIMATE = estimateOf(INPUTS, "IN");

test.each(["SQLite", "PostgreSQL"])(
  "an estimate is the same to the digit in answer, page, e-mail, command line and exports, on %s",
  async (kind) => {
    const mailServer = await startMailServer();
    onTestFinished(() => mailServer.close());
    const postgres = kind === "PostgreSQL" ? await sharePostgres() : null;
    onTestFinished(() => postgres?.stop());
    const env = {
      DATA_DIR: join(await makeScratchFolder(), "data"),
      ...(postgres && { DATABASE_URL: await postgres.createDatabase() }),
    };
    const server = await startServer({ ...env, SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`, LOG_LEVEL: "error" });
    onTestFinished(async () => void (await server.stop()));
    const cli = async (...args: string[]) => {
      const outcome = await runCli(env, ...args);
      expect(outcome).toMatchObject({ code: 0, err: "" });
      return outcome.out;
    };
    const mailOf = async (reference: string) => {
      const arrived = () => mailServer.mails.map(({ raw }) => parseMail(raw));
      const find = () => arrived().find((mail) => mail.header("Subject").includes(reference));
      await expect.poll(find, { timeout: 20_000 }).toBeDefined();
      return { text: find()?.text ?? "", html: find()?.html ?? "" };
    };

    const post = async (fields: Record<string, unknown>) => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ ...VISITOR, ...fields });
      const answer = await fetch(`${server.url}/send-email`, { method: "POST", headers, body });
      return (await answer.json()) as { reference: string; footprint?: { totalKg: number } };
    };
    const { reference, footprint } = await post({ message: "by JSON", footprint: INPUTS });
    expect(footprint).toEqual({ totalKg: ESTIMATE.totalKg });

    const fields = Object.entries(INPUTS).map(([name, value]) => [`footprint.${name}`, value]);
    const redirect = await fetch(`${server.url}/send-email`, {
      method: "POST",
      body: new URLSearchParams({ ...VISITOR, message: "by form", ...Object.fromEntries(fields) }),
      redirect: "manual",
    });
    const location = redirect.headers.get("location") ?? "";
    const formReference = new URL(location, server.url).searchParams.get("reference") ?? "";
    expect(location).toMatch(/^\/contact\?reference=[\w-]+&code=[\w-]{16}#message-sent$/);
    const page = await (await fetch(new URL(location, server.url))).text();
    expect(page).toContain(`<b>${formReference}</b>.`);
    expect(page).toContain(`We received your estimate too: ${formatTotal(ESTIMATE.totalKg)}. `);
    for (const { label, value } of describeInputs(ESTIMATE)) {
      expect(page).toContain(`<th scope="row">${label}</th><td><span data-fact="amount">${value}</span>`);
    }

    const { reference: without } = await post({ message: "without", email: "eve@example.com" });
    expect((await mailOf(without)).text).not.toMatch(/estimate/i);

    for (const one of [reference, formReference]) {
      const { text, html } = await mailOf(one);
      expect(text).toContain(`Footprint estimate: ${formatTotal(ESTIMATE.totalKg)}\n`);
      for (const { label, value } of describeInputs(ESTIMATE)) {
        expect(text).toContain(`${label}: ${value} (`);
        expect(html).toContain(`${label}</th><td>${value}</td>`);
      }
      expect(text).toContain(`Computed with: ${ESTIMATE.factorSet}.\nAn estimate, not a certificate.\n\nMessage:`);
      expect(text.split("\n")[2]).toBe(`With an estimate: ${estimateSummary(ESTIMATE)}.`);
      expect(html).toContain(`<b>Footprint estimate: ${formatTotal(ESTIMATE.totalKg)}</b>`);
      expect(await cli("show", one)).toContain(`\nFootprint estimate: ${formatTotal(ESTIMATE.totalKg)}\n`);
      expect(JSON.parse(await cli("show", one, "--json")).footprint).toEqual(ESTIMATE);
    }
    expect(await cli("show", without)).not.toMatch(/estimate/i);
    expect(JSON.parse(await cli("show", without, "--json"))).not.toHaveProperty("footprint");

    const inputs = "electricityKwh=1234.56 carKm=10000 shortFlights=3 hotelNights=2 shortFlightKm=1500";
    const rows = (await cli("export", "--csv")).trimEnd().split("\r\n");
    const cells = `${ESTIMATE.totalKg},${inputs} longFlightKm=6500 for=organisation carFuel=hybrid`;
    expect(rows.filter((row) => row.includes(`,${cells} `))).toHaveLength(2);
    expect(rows.filter((row) => row.includes(`,"${ESTIMATE.factorSet}",,,,,,`))).toHaveLength(2);
    expect(rows.filter((row) => /,without,{9}[^,]*,{3}$/.test(row))).toHaveLength(1);
    const exported = JSON.parse(await cli("privacy", "export", VISITOR.email)) as {
      messages: { footprint: unknown }[];
    };
    expect(exported.messages.map(({ footprint: one }) => one)).toEqual([ESTIMATE, ESTIMATE]);

    await cli("privacy", "rectify", VISITOR.email, "--country", "FR", "--footprint.carKm", "2,000");
    const corrected = estimateOf({ ...INPUTS, carKm: 2000 }, "FR");
    expect(JSON.parse(await cli("show", reference, "--json"))).toMatchObject({ country: "FR", footprint: corrected });
    await cli("resend", reference);
    // The outbox hears of a new message at once, of what an operator did only within half a minute.
    await post({ message: "another", email: "eve@example.com" });
    const total = `Footprint estimate: ${formatTotal(corrected.totalKg)}\n`;
    const texts = () => mailServer.mails.map(({ raw }) => parseMail(raw).text);
    await expect.poll(() => texts().some((text) => text.includes(total)), { timeout: 20_000 }).toBe(true);
    await cli("privacy", "erase", VISITOR.email, "--yes");
    expect(await cli("export", "--json")).not.toContain("footprint");
  },
  60_000,
);

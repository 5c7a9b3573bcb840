import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { parseMail } from "../../tests/support/parse-mail.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import type { StoredMessage } from "../store/store.ts";
import { composeMail } from "./compose.ts";
import { removeEmls } from "./eml-files.ts";
import { createEmlMailer } from "./eml-mailer.ts";

const MESSAGE: StoredMessage = {
  id: "17",
  reference: "BC-7K3Q-9M",
  name: "Zoë",
  email: "zoe@example.org",
  phone: "1",
  country: "",
  message: "Ünïcödé\n.\nend",
  state: "queued",
  acceptedAt: new Date("2026-01-05T10:00:00Z"),
  stateChangedAt: new Date("2026-01-05T10:00:00Z"),
  dueAt: null,
  attempts: 1,
  lastError: null,
  isRestricted: false,
};
const MAIL = composeMail(MESSAGE, { brand: "Brand", mailFrom: "site@example.test", mailTo: "team@example.test" });

let dataDir: string;
let folder: string;
beforeEach(async () => {
  dataDir = await makeScratchFolder();
  folder = join(dataDir, "outbox");
});

it("writes a whole mail that only this user can read, and nothing beside it", async () => {
  await createEmlMailer(dataDir).send(MAIL);
  expect(await readdir(folder)).toEqual(["BC-7K3Q-9M.eml"]);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, "BC-7K3Q-9M.eml"))).mode & 0o777).toBe(0o600);
  const mail = parseMail(await readFile(join(folder, "BC-7K3Q-9M.eml")));
  expect(mail.text).toMatch(/\n\nÜnïcödé\n\.\nend$/);
  expect(mail.header("Message-ID")).toBe("<BC-7K3Q-9M.17@example.test>");
});

it("replaces what a crash left unfinished, and the same mail sent before", async () => {
  await mkdir(folder);
  await writeFile(join(folder, "BC-7K3Q-9M.eml.unfinished"), "From: half a ma");
  await createEmlMailer(dataDir).send(MAIL);
  await createEmlMailer(dataDir).send(MAIL);
  expect(await readdir(folder)).toEqual(["BC-7K3Q-9M.eml"]);
});

it.skipIf(!existsSync("/dev/full"))(
  "leaves no mail under its name when the disk is full, to be tried again",
  async () => {
    await mkdir(folder);
    await symlink("/dev/full", join(folder, "BC-7K3Q-9M.eml.unfinished"));
    await expect(createEmlMailer(dataDir).send(MAIL)).rejects.toMatchObject({
      name: "MailError",
      kind: "temporary",
      message: expect.stringContaining("ENOSPC"),
    });
    expect(existsSync(join(folder, "BC-7K3Q-9M.eml"))).toBe(false);
  },
);

it("is blocked when its folder cannot be one", async () => {
  await writeFile(folder, "");
  await expect(createEmlMailer(dataDir).send(MAIL)).rejects.toMatchObject({ kind: "blocked" });
});

it("removes a mail and what a crash left of it, and nothing outside its folder", async () => {
  await createEmlMailer(dataDir).send(MAIL);
  await createEmlMailer(dataDir).send({ ...MAIL, reference: "BC-AAAA-AA" });
  await writeFile(join(folder, "BC-7K3Q-9M.eml.unfinished"), "From: half a ma");
  await removeEmls(dataDir, ["BC-7K3Q-9M", "BC-BBBB-BB"]);
  expect(await readdir(folder)).toEqual(["BC-AAAA-AA.eml"]);
  await expect(removeEmls(dataDir, ["../messages"])).rejects.toThrow("not a reference");
});

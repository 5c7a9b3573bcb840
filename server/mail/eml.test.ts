import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { storedWith } from "../../tests/store-contract/samples.ts";
import { parseMail } from "../../tests/support/parse-mail.ts";
import { IDENTITY } from "../../tests/support/post-office.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { composeMail } from "./compose.ts";
import { createEmlMailer, removeEmls } from "./eml.ts";

const MESSAGE = storedWith({ name: "Zoë", message: "Ünïcödé\n.\nend" });
const MAIL = composeMail(MESSAGE, { ...IDENTITY, mailFrom: "site@example.test" });

let dataDir: string;
let folder: string;
beforeEach(async () => {
  dataDir = await makeScratchFolder();
  folder = join(dataDir, "outbox");
});

it("writes a complete mail that only this user can read, and no other file", async () => {
  await createEmlMailer(dataDir).send(MAIL);
  expect(await readdir(folder)).toEqual(["BC-7K3Q-9M.eml"]);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, "BC-7K3Q-9M.eml"))).mode & 0o777).toBe(0o600);
  const mail = parseMail(await readFile(join(folder, "BC-7K3Q-9M.eml")));
  expect(mail.text).toMatch(/\n\nÜnïcödé\n\.\nend$/);
  expect(mail.header("Message-ID")).toBe("<BC-7K3Q-9M.17@example.test>");
});

it("replaces an unfinished file after a crash, and an earlier file of the same mail", async () => {
  await mkdir(folder);
  await writeFile(join(folder, "BC-7K3Q-9M.eml.unfinished"), "From: half a ma");
  await createEmlMailer(dataDir).send(MAIL);
  await createEmlMailer(dataDir).send(MAIL);
  expect(await readdir(folder)).toEqual(["BC-7K3Q-9M.eml"]);
});

it.skipIf(!existsSync("/dev/full"))("leaves no .eml file when the disk is full", async () => {
  await mkdir(folder);
  await symlink("/dev/full", join(folder, "BC-7K3Q-9M.eml.unfinished"));
  const error = { name: "MailError", kind: "blocked", message: expect.stringContaining("ENOSPC") };
  await expect(createEmlMailer(dataDir).send(MAIL)).rejects.toMatchObject(error);
  expect(existsSync(join(folder, "BC-7K3Q-9M.eml"))).toBe(false);
});

it("is blocked if its folder cannot be created", async () => {
  await writeFile(folder, "");
  await expect(createEmlMailer(dataDir).send(MAIL)).rejects.toMatchObject({ kind: "blocked" });
});

it("removes a message's files: mail and acknowledgement, finished or not, and no other file", async () => {
  const theirs = [".eml", ".eml.unfinished", ".acknowledgement.eml", ".acknowledgement.eml.unfinished"];
  const others = ["BC-AAAA-AA", "BC-AAAA-AA.eml.bak", "BC-AAAA-AA.txt", "bc-aaaa-aa.eml", "notes.eml", ".eml"];
  const names = [...theirs.map((end) => `BC-AAAA-AA${end}`), "BC-BBBB-BB.eml", "BC-CCCC-CC.eml", ...others];
  expect(await removeEmls(dataDir, ["BC-AAAA-AA"])).toBe(0);
  await mkdir(folder);
  for (const name of names) await writeFile(join(folder, name), name);
  expect(await removeEmls(dataDir, ["BC-AAAA-AA", "BC-CCCC-CC", "BC-DDDD-DD"])).toBe(5);
  expect((await readdir(folder)).sort()).toEqual(["BC-BBBB-BB.eml", ...others].sort());
  await createEmlMailer(dataDir).removeFiles?.({ reference: "BC-BBBB-BB" });
  expect((await readdir(folder)).sort()).toEqual(others.sort());
});

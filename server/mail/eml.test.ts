import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { storedWith } from "../../tests/store-contract/samples.ts";
import { parseMail } from "../../tests/support/parse-mail.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { StoreUnavailable } from "../store/store.ts";
import { composeMail } from "./compose.ts";
import { createEmlMailer, removeStrayEmls } from "./eml.ts";

const MESSAGE = storedWith({ name: "Zoë", message: "Ünïcödé\n.\nend" });
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

describe("removing stray files", () => {
  /** A store with these messages, which records each query. */
  function storeWith(...stored: string[]) {
    const queries: (readonly string[])[] = [];
    return {
      queries,
      async existingReferences(references: readonly string[]) {
        queries.push(references);
        return stored.filter((reference) => references.includes(reference));
      },
    };
  }

  async function writeFiles(...names: string[]): Promise<void> {
    await mkdir(folder, { recursive: true });
    await Promise.all(names.map((name) => writeFile(join(folder, name), "")));
  }

  it("removes the files of messages that are not in the store, also unfinished ones, and counts them", async () => {
    const kept = ["BC-AAAA-AA.eml", "BC-DDDD-DD.eml.unfinished"];
    await writeFiles(...kept, "BC-BBBB-BB.eml", "BC-BBBB-BB.eml.unfinished", "BC-CCCC-CC.eml.unfinished");
    expect(await removeStrayEmls(dataDir, storeWith("BC-AAAA-AA", "BC-DDDD-DD"))).toBe(3);
    expect((await readdir(folder)).sort()).toEqual(kept);
  });

  it("keeps a file that appears while the store is asked", async () => {
    await writeFiles("BC-AAAA-AA.eml");
    const store = storeWith();
    await removeStrayEmls(dataDir, {
      async existingReferences(references) {
        await writeFiles("BC-BBBB-BB.eml");
        return store.existingReferences(references);
      },
    });
    expect(await readdir(folder)).toEqual(["BC-BBBB-BB.eml"]);
  });

  it("touches no file that is not named after a reference", async () => {
    const others = ["BC-AAAA-AA", "BC-AAAA-AA.eml.bak", "BC-AAAA-AA.txt", "bc-aaaa-aa.eml", "notes.eml", ".eml"];
    await writeFiles(...others);
    await writeFile(join(dataDir, "BC-AAAA-AA.eml"), "");
    const store = storeWith();
    expect(await removeStrayEmls(dataDir, store)).toBe(0);
    expect((await readdir(folder)).sort()).toEqual(others.sort());
    expect(existsSync(join(dataDir, "BC-AAAA-AA.eml"))).toBe(true);
    expect(store.queries).toEqual([]);
  });

  it("does nothing where no e-mail was ever written", async () => {
    const store = storeWith();
    expect(await removeStrayEmls(dataDir, store)).toBe(0);
    expect(store.queries).toEqual([]);
  });

  it("asks for thousands of files in parts", async () => {
    const references = Array.from({ length: 1201 }, (_, index) => `BC-${String(index).padStart(4, "0")}-AA`);
    const kept = references.filter((_, index) => index % 3 === 0);
    await writeFiles(...references.map((reference) => `${reference}.eml`));
    const store = storeWith(...kept);
    expect(await removeStrayEmls(dataDir, store)).toBe(references.length - kept.length);
    expect((await readdir(folder)).sort()).toEqual(kept.map((reference) => `${reference}.eml`));
    expect(store.queries.map(({ length }) => length)).toEqual([500, 500, 201]);
  });

  it("removes the others and then rejects when one cannot be removed", async () => {
    // A folder is not removed as a file.
    await mkdir(join(folder, "BC-AAAA-AA.eml"), { recursive: true });
    await writeFiles("BC-BBBB-BB.eml");
    await expect(removeStrayEmls(dataDir, storeWith())).rejects.toThrow();
    expect(await readdir(folder)).toEqual(["BC-AAAA-AA.eml"]);
  });

  it("removes nothing when the store does not answer", async () => {
    await writeFiles("BC-AAAA-AA.eml");
    const store = { existingReferences: () => Promise.reject(new StoreUnavailable("away")) };
    await expect(removeStrayEmls(dataDir, store)).rejects.toThrow(StoreUnavailable);
    expect(await readdir(folder)).toEqual(["BC-AAAA-AA.eml"]);
  });
});

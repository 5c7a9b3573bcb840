import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { storedWith } from "../../tests/store-contract/samples.ts";
import { parseMail } from "../../tests/support/parse-mail.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { StoreUnavailable } from "../store/store.ts";
import { composeMail } from "./compose.ts";
import { createEmlMailer, removeEmls, tidyEmls } from "./eml.ts";

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

describe("tidying files", () => {
  /** A store with these messages that has erased those, and records each query. */
  function storeWith(stored: readonly string[], erased: readonly string[] = []) {
    const queries: (readonly string[])[] = [];
    const among = (known: readonly string[]) => async (references: readonly string[]) => {
      queries.push(references);
      return known.filter((reference) => references.includes(reference));
    };
    return { queries, existingReferences: among(stored), erasedReferences: among(erased) };
  }

  async function writeFiles(...names: string[]): Promise<void> {
    await mkdir(join(folder, "unknown"), { recursive: true });
    await Promise.all(names.map((name) => writeFile(join(folder, name), name)));
  }

  const filesIn = async (...path: string[]) =>
    (await readdir(join(folder, ...path))).filter((name) => name !== "unknown").sort();

  it("removes the files of erased messages, also unfinished ones, and moves those that nothing is known about", async () => {
    const kept = ["BC-AAAA-AA.eml", "BC-DDDD-DD.eml.unfinished"];
    const unknown = ["BC-EEEE-EE.acknowledgement.eml", "BC-EEEE-EE.eml"];
    await writeFiles(...kept, "BC-BBBB-BB.eml", "BC-BBBB-BB.eml.unfinished", "BC-CCCC-CC.eml.unfinished", ...unknown);
    const store = storeWith(["BC-AAAA-AA", "BC-DDDD-DD"], ["BC-BBBB-BB", "BC-CCCC-CC"]);
    expect(await tidyEmls(dataDir, store)).toEqual({ removed: 3, unknown: 2, returned: 0 });
    expect(await filesIn()).toEqual(kept);
    expect(await filesIn("unknown")).toEqual(unknown);
    expect(await tidyEmls(dataDir, store)).toEqual({ removed: 0, unknown: 0, returned: 0 });
  });

  it("keeps every unknown file, also under a name that is taken, and returns it once its message is known", async () => {
    await writeFiles("BC-AAAA-AA.eml", "BC-BBBB-BB.eml");
    await tidyEmls(dataDir, storeWith([]));
    await writeFiles("BC-AAAA-AA.eml");
    await tidyEmls(dataDir, storeWith([]));
    expect(await filesIn()).toEqual([]);
    expect(await filesIn("unknown")).toEqual(["BC-AAAA-AA.eml", "BC-AAAA-AA.eml.1", "BC-BBBB-BB.eml"]);
    expect(await tidyEmls(dataDir, storeWith(["BC-AAAA-AA", "BC-BBBB-BB"]))).toMatchObject({ returned: 2 });
    expect(await filesIn()).toEqual(["BC-AAAA-AA.eml", "BC-BBBB-BB.eml"]);
    expect(await filesIn("unknown")).toEqual(["BC-AAAA-AA.eml.1"]);
    expect(await tidyEmls(dataDir, storeWith([], ["BC-AAAA-AA", "BC-BBBB-BB"]))).toMatchObject({ removed: 3 });
    expect([await filesIn(), await filesIn("unknown")]).toEqual([[], []]);
  });

  it("leaves no file of a person's messages anywhere", async () => {
    await writeFiles("BC-AAAA-AA.eml", "unknown/BC-AAAA-AA.eml", "unknown/BC-AAAA-AA.eml.2", "BC-BBBB-BB.eml");
    expect(await removeEmls(dataDir, new Set(["BC-AAAA-AA"]))).toBe(3);
    expect([await filesIn(), await filesIn("unknown")]).toEqual([["BC-BBBB-BB.eml"], []]);
  });

  it("leaves a file where it is that appears while the store is asked", async () => {
    await writeFiles("BC-AAAA-AA.eml");
    const store = storeWith([], ["BC-AAAA-AA", "BC-BBBB-BB"]);
    await tidyEmls(dataDir, {
      ...store,
      async existingReferences(references) {
        await writeFiles("BC-BBBB-BB.eml");
        return store.existingReferences(references);
      },
    });
    expect(await filesIn()).toEqual(["BC-BBBB-BB.eml"]);
  });

  it("touches no file that is not named after a reference", async () => {
    const others = ["BC-AAAA-AA", "BC-AAAA-AA.eml.bak", "BC-AAAA-AA.txt", "bc-aaaa-aa.eml", "notes.eml", ".eml"];
    await writeFiles(...others, "unknown/notes.eml");
    await writeFile(join(dataDir, "BC-AAAA-AA.eml"), "");
    const store = storeWith([]);
    expect(await tidyEmls(dataDir, store)).toEqual({ removed: 0, unknown: 0, returned: 0 });
    expect(await filesIn()).toEqual(others.sort());
    expect(existsSync(join(dataDir, "BC-AAAA-AA.eml"))).toBe(true);
    expect(store.queries).toEqual([]);
  });

  it("does nothing where no e-mail was ever written", async () => {
    const store = storeWith([]);
    expect(await tidyEmls(dataDir, store)).toEqual({ removed: 0, unknown: 0, returned: 0 });
    expect(store.queries).toEqual([]);
    expect(existsSync(folder)).toBe(false);
  });

  it("asks for thousands of files in parts", async () => {
    const references = Array.from({ length: 1201 }, (_, index) => `BC-${String(index).padStart(4, "0")}-AA`);
    const kept = references.filter((_, index) => index % 3 === 0);
    await writeFiles(...references.map((reference) => `${reference}.eml`));
    const store = storeWith(kept, references);
    expect(await tidyEmls(dataDir, store)).toMatchObject({ removed: references.length - kept.length });
    expect(await filesIn()).toEqual(kept.map((reference) => `${reference}.eml`));
    expect(store.queries.map(({ length }) => length)).toEqual([500, 333, 500, 333, 201, 134]);
  });

  it("tidies the others and then rejects when one fails", async () => {
    // A folder is not removed as a file.
    await mkdir(join(folder, "BC-AAAA-AA.eml"), { recursive: true });
    await writeFiles("BC-BBBB-BB.eml");
    await expect(tidyEmls(dataDir, storeWith([], ["BC-AAAA-AA", "BC-BBBB-BB"]))).rejects.toThrow();
    expect(await filesIn()).toEqual(["BC-AAAA-AA.eml"]);
  });

  it("leaves everything where it is when the store does not answer", async () => {
    await writeFiles("BC-AAAA-AA.eml");
    const away = () => Promise.reject(new StoreUnavailable("away"));
    for (const method of ["existingReferences", "erasedReferences"]) {
      await expect(tidyEmls(dataDir, { ...storeWith([]), [method]: away })).rejects.toThrow(StoreUnavailable);
    }
    expect(await filesIn()).toEqual(["BC-AAAA-AA.eml"]);
  });
});

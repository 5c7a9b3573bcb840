import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { DAY_MS } from "../time.ts";
import { backupsOlderThan, deleteOldBackups, nightlyName } from "./backup-folder.ts";

const now = new Date("2026-02-28T03:15:07Z");

async function folderOf(ages: Readonly<Record<string, number>>): Promise<string> {
  const folder = await makeScratchFolder();
  for (const [name, days] of Object.entries(ages)) {
    const at = new Date(now.getTime() - days * DAY_MS);
    writeFileSync(join(folder, name), "");
    utimesSync(join(folder, name), at, at);
  }
  return folder;
}

const nights = (...days: readonly number[]) =>
  Object.fromEntries(days.map((age) => [nightlyName(new Date(now.getTime() - age * DAY_MS)), age]));

test("deletes backups and remains that are older, never the newest three, and no file of anybody else", async () => {
  expect(nightlyName(now)).toBe("2026-02-28-031507.db");
  const kept = nights(0, 1, 11, 11.9);
  const partial = { "2026-02-15-031500.db.partial": 13, "2026-02-15-031500.db.partial-wal": 13 };
  const others = { "before-upgrade.db": 40, "2026-02-28-031500.db.partial": 0 };
  const folder = await folderOf({ ...kept, ...nights(12.1, 30), ...partial, ...others });
  await deleteOldBackups(folder, 12 * DAY_MS, now);
  expect(readdirSync(folder).sort()).toEqual(Object.keys({ ...kept, ...others }).sort());

  const outage = await folderOf(nights(0, 20, 30, 40, 50));
  await deleteOldBackups(outage, 12 * DAY_MS, now);
  expect(readdirSync(outage).sort()).toEqual(Object.keys(nights(0, 20, 30)).sort());
  expect(await backupsOlderThan(outage, 14 * DAY_MS, now)).toEqual(Object.keys(nights(20, 30)));
  expect(await backupsOlderThan(join(outage, "none"), 14 * DAY_MS, now)).toEqual([]);
});

import { readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";

// The folder of nightly backups. Only their names are touched: others may keep files there too.
const NIGHTLY = /^\d{4}-\d\d-\d\d-\d{6}\.db/;
const PARTIAL = /\.partial(-wal|-shm)?$/;
/** So that failures, a wrong clock or a short period never delete the last good ones. */
const ALWAYS_KEPT = 3;

export function nightlyName(now: Date): string {
  return `${now.toISOString().slice(0, 19).replace("T", "-").replaceAll(":", "")}.db`;
}

/** Call it after a new backup succeeded, never otherwise. Also removes what killed backups left. */
export async function deleteOldBackups(folder: string, keptMs: number, now: Date): Promise<void> {
  const files = await listNewestFirst(folder);
  const [partial, complete] = [files.filter(isPartial), files.filter((file) => !isPartial(file))];
  const old = [...partial, ...complete.slice(ALWAYS_KEPT)].filter(({ at }) => isOlder(at, keptMs, now));
  await Promise.all(old.map(({ name }) => unlink(join(folder, name))));
}

/** The names of the backups that are older; none if this machine has no such folder. */
export async function backupsOlderThan(folder: string, keptMs: number, now: Date): Promise<string[]> {
  const files = await listNewestFirst(folder).catch(() => []);
  return files.filter(({ at }) => isOlder(at, keptMs, now)).map(({ name }) => name);
}

async function listNewestFirst(folder: string) {
  const names = (await readdir(folder)).filter((name) => NIGHTLY.test(name));
  const files = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtime })));
  return files.sort((a, b) => b.at.getTime() - a.at.getTime());
}

const isPartial = ({ name }: { name: string }) => PARTIAL.test(name);
const isOlder = (at: Date, keptMs: number, now: Date) => now.getTime() - at.getTime() > keptMs;

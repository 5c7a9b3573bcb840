import { StoreUnavailable } from "../store.ts";

const BUSY = 5;
const LOCKED = 6;
/** Result codes that say "not now" or "not on this disk", and what to do about each. */
const UNAVAILABLE: Readonly<Record<number, string>> = {
  [BUSY]: "it stayed locked by another program; close that program",
  [LOCKED]: "it stayed locked by another program; close that program",
  7: "there is no memory left",
  8: "it is read-only; make the file and its folder (DATA_DIR) writable",
  10: "the disk reported an error; check the disk that holds DATA_DIR",
  11: "its file is damaged; stop the server and restore a backup",
  13: "the disk is full; free some space where DATA_DIR lies",
  14: "its file cannot be opened; check that DATA_DIR exists and is writable",
  15: "its lock files cannot be used; DATA_DIR must lie on a local disk",
  26: "its file is damaged; stop the server and restore a backup",
};

export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === BUSY || code === LOCKED;
}

/** A StoreUnavailable for whatever asking again later may cure; any other error as it is. */
export function toStoreError(error: unknown): unknown {
  if (isClosed(error)) return new StoreUnavailable("The message database is closed", { cause: error });
  const reason = UNAVAILABLE[primaryCode(error) ?? 0];
  return reason ? new StoreUnavailable(`The message database cannot be used: ${reason}`, { cause: error }) : error;
}

/** Extended codes such as SQLITE_IOERR_FSYNC carry the primary one in their low byte. */
export function primaryCode(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : undefined;
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE";
}

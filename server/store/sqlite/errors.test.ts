import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { StoreUnavailable } from "../store.ts";
import { isBusy, toStoreError } from "./errors.ts";

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail");
}

test("a full disk is the store's trouble, and says so", () => {
  const db = new DatabaseSync(":memory:");
  db.exec("PRAGMA max_page_count = 3; CREATE TABLE words (word TEXT)");
  const full = errorOf(() => db.prepare("INSERT INTO words VALUES (?)").run("x".repeat(50_000)));
  expect(toStoreError(full)).toBeInstanceOf(StoreUnavailable);
  expect(toStoreError(full)).toMatchObject({ message: expect.stringMatching(/disk is full.+DATA_DIR/), cause: full });
  expect(isBusy(full)).toBe(false);
});

test.each([
  [5 | (2 << 8), /locked/],
  [8, /read-only/],
  [10 | (4 << 8), /disk reported an error/],
  [11, /damaged/],
  [14, /cannot be opened/],
])("code %i is the store's trouble", (errcode, message) => {
  const error = Object.assign(new Error("x"), { code: "ERR_SQLITE_ERROR", errcode });
  expect(toStoreError(error)).toBeInstanceOf(StoreUnavailable);
  expect(toStoreError(error)).toMatchObject({ message: expect.stringMatching(message) });
});

test("a closed database is the store's trouble", () => {
  const db = new DatabaseSync(":memory:");
  db.close();
  expect(toStoreError(errorOf(() => db.exec("SELECT 1")))).toBeInstanceOf(StoreUnavailable);
});

test("a wrong statement is a fault of the program and stays what it is", () => {
  const fault = errorOf(() => new DatabaseSync(":memory:").exec("SELEC 1"));
  expect(toStoreError(fault)).toBe(fault);
});

import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCommandLine } from "../server/cli/commands.ts";
import { runCli } from "./support/run-cli.ts";

test("explains itself without opening anything", async () => {
  const dataDir = join(tmpdir(), "cli-never-made");
  const general = await runCli({ DATA_DIR: dataDir }, "--help");
  expect(general).toMatchObject({ code: 0, err: "" });
  for (const name of ["list", "show", "retry", "release", "export", "stats", "backup", "privacy erase"]) {
    expect(general.out).toMatch(new RegExp(`^ {2}${name} `, "m"));
    expect(readCommandLine([...name.split(" "), "--help"])).toMatchObject({
      text: expect.stringContaining(`Usage: npm run messages -- ${name}`),
    });
  }
  expect(existsSync(dataDir)).toBe(false);
});

test("leaves with 2 when it is used wrongly, and with 1 and one line each when the settings are wrong", async () => {
  expect(await runCli({}, "list", "--colour")).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringMatching(/^Unknown option '--colour'\n.+--help/),
  });
  const wrong = await runCli({ PORT: "x", DATABASE_URL: "mysql://x" }, "list");
  expect(wrong).toMatchObject({ code: 1, out: "" });
  expect(wrong.err).toMatch(/^PORT is not .+\nDATABASE_URL is not .+\n$/);
  const away = await runCli({ DATABASE_URL: "postgres://u:hunter2@127.0.0.1:1/x" }, "list");
  expect(away).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringMatching(/^The message database cannot be used: [^\n]+\n$/),
  });
  expect(await runCli({ DATA_DIR: "/dev/null/x" }, "list")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^[^\n]+DATA_DIR[^\n]+\n$/),
  });
});

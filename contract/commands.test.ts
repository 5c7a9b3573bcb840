import { expect, test } from "vitest";
import { adviceLine, commandLine } from "./commands.ts";

const WRAPPER = "sudo sh deploy/systemd/brighter-carbon";

test.each([
  // Not npm start, which would publish a draft.
  ["npm run messages --", "npm run serve"],
  ["DATA_DIR=d npm run messages --", "DATA_DIR=d npm run serve"],
  [`${WRAPPER} messages`, "sudo nano /etc/brighter-carbon.env && sudo systemctl restart brighter-carbon"],
  ["node server/desk/command.ts", "docker compose -f deploy/compose.yaml up -d"],
])("where the program is called %s, a setting takes effect by: %s", (program, restart) => {
  expect(commandLine("settings", program)).toBe(restart);
});

test.each([
  ["npm run messages --", "npm run build", "npm run claims -- --write", "npm run inbox"],
  [
    "DATA_DIR=d npm run messages --",
    "DATA_DIR=d npm run build",
    "DATA_DIR=d npm run claims -- --write",
    "DATA_DIR=d npm run inbox",
  ],
  [`${WRAPPER} messages`, `${WRAPPER} build`, `${WRAPPER} claims --write`, `${WRAPPER} inbox`],
  [
    "node server/desk/command.ts",
    "docker build -f deploy/Dockerfile .",
    "SITE_DIR=site npm run claims -- --write",
    "node server/desk/command.ts inbox",
  ],
])("where the program is called %s, remedies name %s", (program, build, review, inbox) => {
  expect(commandLine("build", program)).toBe(build);
  expect(commandLine("claims --write", program)).toBe(review);
  expect(commandLine("inbox", program)).toBe(inbox);
  expect(commandLine("messages list", program)).toBe(`${program} list`);
});

test("a problem, its remedy and its command make one line", () => {
  const problem = "There is no build";
  expect(adviceLine({ problem })).toBe("There is no build");
  expect(adviceLine({ problem, command: "build" })).toBe("There is no build; run: npm run build");
  expect(adviceLine({ problem, remedy: "set X, then run", command: "build" }, "site messages")).toBe(
    "There is no build; set X, then run: site build",
  );
});

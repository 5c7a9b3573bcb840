import { expect, test } from "vitest";
import { withOwnCommands } from "./commands.ts";

const WRAPPER = "sudo sh deploy/systemd/brighter-carbon";

test.each([
  ["npm run messages --", "npm run build", "npm run claims", "npm run claims -- review"],
  [`${WRAPPER} messages`, `${WRAPPER} build`, `${WRAPPER} claims`, `${WRAPPER} claims review`],
  [
    "node server/cli.ts",
    "docker build -f deploy/Dockerfile .",
    "SITE_DIR=site npm run claims",
    "SITE_DIR=site npm run claims -- review",
  ],
])("where the program is called %s, remedies name %s", (program, build, claims, review) => {
  const text = "run: npm run build; npm run claims\nnpm run claims -- review";
  expect(withOwnCommands(text, program)).toBe(`run: ${build}; ${claims}\n${review}`);
});

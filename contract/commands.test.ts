import { expect, test } from "vitest";
import { adviceLine, commandLine } from "./commands.ts";

const WRAPPER = "sudo sh deploy/systemd/brighter-carbon";

test.each([
  // Not npm start, which would publish a draft.
  ["npm run messages --", "npm run serve", "npm run build", "npm run claims -- --review", "npm run inbox"],
  [
    "D=d npm run messages --",
    "D=d npm run serve",
    "D=d npm run build",
    "D=d npm run claims -- --review",
    "D=d npm run inbox",
  ],
  [
    `${WRAPPER} messages`,
    "sudo nano /etc/brighter-carbon.env && sudo systemctl restart brighter-carbon",
    ...["build", "claims --review", "inbox"].map((command) => `${WRAPPER} ${command}`),
  ],
  [
    "node desk/command.ts",
    ...["up -d", "up -d --build"].map(
      (command) => `sudo docker compose --env-file /etc/brighter-carbon.env -f deploy/compose.yaml ${command}`,
    ),
    "SITE_DIR=site npm run claims -- --review",
    "node desk/command.ts inbox",
  ],
])("where the program is called %s, remedies name its own commands", (program, ...expected) => {
  const commands = ["settings", "build", "claims --review", "inbox"] as const;
  expect(commands.map((command) => commandLine(command, program))).toEqual(expected);
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

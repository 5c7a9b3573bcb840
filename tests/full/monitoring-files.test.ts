import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningServer, startServer } from "../../scripts/run-server.ts";
import { postMessage } from "../support/load.ts";
import { metricsUrl, scrape } from "../support/metrics.ts";
import { requirePrograms } from "../support/require-program.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

interface Dashboard {
  panels: { id: number; title: string; gridPos: Record<"x" | "y" | "w" | "h", number>; targets: { expr: string }[] }[];
}

const RULES_FILE = "deploy/prometheus/alerts.yml";
const rules = readFileSync(RULES_FILE, "utf8")
  .split(/^ +- alert: /m)
  .slice(1);
const dashboard: Dashboard = JSON.parse(readFileSync("deploy/grafana/dashboard.json", "utf8"));
const expressions = [
  ...rules.map((rule) => /^ +expr: (.+)$/m.exec(rule)?.[1] ?? ""),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

let server: RunningServer;
let real: Awaited<ReturnType<typeof scrape>>;
beforeAll(async () => {
  server = await startServer({ METRICS_PORT: "0" });
  await (await fetch(server.url)).text();
  await postMessage(server.url, "counted");
  real = await scrape(metricsUrl(server));
});
afterAll(async () => void (await server.stop()));

/** The metric names in an expression. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, " ")
    .replaceAll(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, " ");
  return [...bare.matchAll(/[a-z_:][\w:]*\b(?!\s*\()/gi)]
    .map(([word]) => word)
    .filter((word) => !/^(and|or|unless|bool|e\d+|sum|min|max|avg)$/.test(word));
}

test("rules and dashboard use only metrics and labels that a real server has", () => {
  expect(expressions.length).toBeGreaterThan(20);
  // Prometheus adds `up` for every job.
  const known = [...real.names, "up"];
  for (const expression of expressions) {
    const used = metricsIn(expression);
    expect(used, expression).not.toEqual([]);
    expect(known, expression).toEqual(expect.arrayContaining(used));
  }
  const selectors = expressions.flatMap((expression) => [...expression.matchAll(/(\w+)\{([^}]*)\}/g)]);
  expect(selectors.length).toBeGreaterThan(5);
  for (const [selector, name, labels = ""] of selectors) {
    // Prometheus adds the job. Other operators than `=` need no label of a real server.
    const asked = labels.split(",").filter((label) => /^\w+="/.test(label) && label !== 'job="site"');
    const lines = real.text.split("\n").filter((line) => line.startsWith(`${name}{`) || asked.length === 0);
    expect(
      lines.some((line) => asked.every((label) => line.includes(label))),
      selector,
    ).toBe(true);
  }
});

test("the dashboard shows each of the site's own metrics", () => {
  const shown = dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr)));
  const own = real.names.filter((name) => name.startsWith("site_") && !/_(sum|count)$/.test(name));
  expect(shown).toEqual(expect.arrayContaining(own));
});

test("each rule has a severity, a meaning and a remedy", () => {
  const names = rules.map((rule) => rule.split("\n", 1).join(""));
  expect(new Set(names).size).toBe(rules.length);
  for (const rule of rules) {
    expect(rule).toMatch(/^ +severity: (critical|warning)$/m);
    expect(rule).toMatch(/^ +summary: \S/m);
    expect(rule).toMatch(/^ +description: "[^"]+"$/m);
  }
});

test("all examples use the same metrics port", () => {
  const FILES = "deploy/systemd/site.env deploy/compose.yaml docs/configuration.md docs/operations.md server/config.ts";
  const text = FILES.split(" ").map((file) => readFileSync(file, "utf8"));
  const set = [...text.join("\n").matchAll(/(?:METRICS_PORT(?:=|: )|`0\.0\.0\.0:)(?:[\d.]+:)?(\d+)/g)].map(
    ([, port]) => port,
  );
  const scraped = [...readFileSync(RULES_FILE, "utf8").matchAll(/targets: \["[\w.]+:(\d+)"\]/g)].map(
    ([, port]) => port,
  );
  expect(set.length).toBeGreaterThan(5);
  expect(scraped.length).toBeGreaterThan(1);
  expect(new Set([...set, ...scraped])).toEqual(new Set(["9464"]));
});

test("a container's metrics are reachable only from its own network", () => {
  const compose = readFileSync("deploy/compose.yaml", "utf8");
  const [, host, port = ""] = /METRICS_PORT: "?([\d.]+):(\d+)/.exec(compose) ?? [];
  // Other containers cannot reach the loopback interface, which is the default.
  expect(host).toBe("0.0.0.0");
  const published = [...compose.matchAll(/^ +- "(?:[\d.]+:)?\d+:(\d+)"$/gm)].map(([, inside]) => inside);
  expect(published).toContain("3000");
  expect(published).not.toContain(port);
});

test("no panels of the dashboard overlap", () => {
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

const promtool = (command: "check" | "test", file: string) =>
  spawnSync("promtool", [command, "rules", file], { encoding: "utf8" });

/** JSON is also YAML. */
async function writeYaml(content: object): Promise<string> {
  const file = join(await makeScratchFolder(), "rules.yml");
  writeFileSync(file, JSON.stringify(content));
  return file;
}

test("Prometheus accepts the rules and every expression", async ({ skip }) => {
  requirePrograms(skip, "promtool");
  const panels = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const asRules = panels.map((expr, index) => ({ record: `panel:${index}`, expr }));
  const file = await writeYaml({ groups: [{ name: "panels", rules: asRules }] });
  for (const [checked, count] of [[RULES_FILE, rules.length] as const, [file, panels.length] as const]) {
    const stdout = expect.stringContaining(`SUCCESS: ${count} rules found`);
    expect(promtool("check", checked)).toMatchObject({ stderr: "", stdout });
  }
});

test("new messages in quarantine are reported for an hour", async ({ skip }) => {
  requirePrograms(skip, "promtool");
  const inQuarantine = (instance: string, values: string) => ({
    series: `site_trouble{kind="quarantined", job="site", instance="${instance}"}`,
    values,
  });
  const alerts = (minute: number, ...values: number[]) => ({
    eval_time: `${minute}m`,
    alertname: "SiteMessagesQuarantined",
    exp_alerts: values.map((value) => ({
      exp_labels: { severity: "warning" },
      exp_annotations: {
        summary: "New messages are in quarantine",
        description: `Quarantined as suspected abuse and not opened: ${value}. At least one arrived within the hour. To list them: sudo brighter-carbon messages list --state quarantined. If they are real: sudo brighter-carbon messages release --all`,
      },
    })),
  });
  const file = await writeYaml({
    rule_files: [resolve(RULES_FILE)],
    tests: [
      {
        interval: "1m",
        input_series: [
          // Two old messages, a third after 70 minutes, and all released an hour and a half later.
          inQuarantine("a", "2x70 3x90 0x30"),
          // A restarted node does not hide them.
          inQuarantine("b", "2x60 _x15 3x85 0x30"),
        ],
        alert_rule_test: [alerts(69), alerts(72, 3), alerts(125, 3), alerts(140), alerts(170)],
      },
    ],
  });
  const { status, stdout, stderr } = promtool("test", file);
  expect(status, stdout + stderr).toBe(0);
});

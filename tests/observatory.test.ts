import { expect, test } from "vitest";
import { openApp } from "./support/app.ts";
import { loadHttpsSite } from "./support/https-site.ts";
import { observatoryScore, type ScannedAnswer } from "./support/observatory.ts";
import { SCREENS } from "./support/screens.ts";

/** As it is deployed: built for an address on HTTPS. */
async function scan(path: string): Promise<ScannedAnswer> {
  const { app, close } = await openApp({}, {}, { site: await loadHttpsSite() });
  try {
    // The scanner asks as a page of another site would, to see whom it lets read.
    const answer = await app.inject({ url: path, headers: { origin: "https://http-observatory.example" } });
    const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
    return { headers: Object.fromEntries(headers), html: answer.body };
  } finally {
    await close();
  }
}

test.each([...SCREENS.map(({ paths }) => paths[0]), "/about"])("%s scores 135 or more", async (path) => {
  expect(observatoryScore(await scan(path))).toBeGreaterThanOrEqual(135);
});

test("of which each header earns its part", async () => {
  const answer = await scan("/");
  const scoreWith = (changes: ScannedAnswer["headers"]) =>
    observatoryScore({ ...answer, headers: { ...answer.headers, ...changes } });
  const policy = answer.headers["content-security-policy"] ?? "";
  const without = (name: string) => scoreWith({ [name]: undefined });

  expect({
    "as it is": scoreWith({}),
    "without the policy": without("content-security-policy"),
    "without HSTS": without("strict-transport-security"),
    "without nosniff": without("x-content-type-options"),
    "without Referrer-Policy": without("referrer-policy"),
    "without CORP": without("cross-origin-resource-policy"),
    "without COOP": without("cross-origin-opener-policy"),
    "without COEP": without("cross-origin-embedder-policy"),
    "without any word on frames": scoreWith({
      "content-security-policy": policy.replace(/; frame-ancestors 'none'/, ""),
      "x-frame-options": undefined,
    }),
    "with inline scripts": scoreWith({
      "content-security-policy": policy.replace(/'sha256-[^']+'/g, "'unsafe-inline'"),
    }),
    "with a script from anywhere": scoreWith({ "content-security-policy": policy.replace("'self'", "https:") }),
    "with a short HSTS": scoreWith({ "strict-transport-security": "max-age=3600" }),
    "with a careless cookie": scoreWith({ "set-cookie": "a=b" }),
    "readable by every site, with cookies": scoreWith({
      "access-control-allow-origin": "https://evil.example",
      "access-control-allow-credentials": "true",
    }),
  }).toEqual({
    "as it is": 150,
    "without the policy": 75,
    "without HSTS": 80,
    "without nosniff": 145,
    "without Referrer-Policy": 145,
    "without CORP": 140,
    "without COOP": 140,
    "without COEP": 140,
    "without any word on frames": 80,
    "with inline scripts": 80,
    "with a script from anywhere": 80,
    "with a short HSTS": 140,
    "with a careless cookie": 145,
    "readable by every site, with cookies": 50,
  });
});

test("a foreign script costs points unless its content is pinned", async () => {
  const answer = await scan("/");
  const scoreWith = (script: string) => observatoryScore({ ...answer, html: answer.html + script });
  const baseline = observatoryScore(answer);
  expect(scoreWith('<script src="https://cdn.example/a.js"></script>')).toBe(baseline - 5);
  expect(scoreWith('<script src="http://cdn.example/a.js"></script>')).toBeLessThan(100);
  expect(scoreWith('<script src="/a.js" integrity="sha256-x"></script>')).toBe(baseline + 5);
});

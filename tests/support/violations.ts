import type { Page } from "@playwright/test";

/** Collects each policy violation that the browser reports to the page. Call it before opening the page. */
export async function collectViolations(page: Page): Promise<string[]> {
  const violations: string[] = [];
  await page.exposeFunction("tellViolation", (violation: string) => violations.push(violation));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
      (window as unknown as { tellViolation(text: string): void }).tellViolation(`${effectiveDirective} ${blockedURI}`);
    });
  });
  return violations;
}

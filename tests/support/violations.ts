import type { Page } from "@playwright/test";

/** Fills with each thing that the page's policy refuses, as the browser tells the page itself. Call before opening it. */
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

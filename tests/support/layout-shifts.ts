import type { Page } from "@playwright/test";

/** Notes from now on how far each page moves by itself. Call before opening one. */
export function recordShifts(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    window.shifts = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.shifts += (entry as unknown as { value: number }).value;
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** Of the page that is open. */
export function sumOfShifts(page: Page): Promise<number> {
  return page.evaluate(() => window.shifts);
}

declare global {
  interface Window {
    shifts: number;
  }
}

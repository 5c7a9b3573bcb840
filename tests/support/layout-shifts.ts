import type { Page } from "@playwright/test";

interface Shift {
  value: number;
  /** The elements that moved, each as the start of its HTML. */
  moved: string[];
}

/** Records how far each page moves by itself. Call it before opening a page. */
export function recordShifts(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as LayoutShift[]) {
        const moved = entry.sources.map(({ node }) =>
          node instanceof Element ? node.outerHTML.slice(0, 60) : String(node?.textContent),
        );
        window.shifts.push({ value: entry.value, moved });
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** The shifts of the open page. */
export function shiftsOf(page: Page): Promise<Shift[]> {
  return page.evaluate(() => window.shifts);
}

/** TypeScript does not have this type yet. */
interface LayoutShift extends PerformanceEntry {
  value: number;
  sources: { node: Node | null }[];
}

declare global {
  interface Window {
    shifts: Shift[];
  }
}

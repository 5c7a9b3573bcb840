import { categoriesOf, type FootprintEstimate } from "./arithmetic.ts";
import { AMOUNTS, type Category } from "./fields.ts";

/** In pixels. The picture is as wide as its place, so columns have places and widths in percent. */
const RIDGE_HEIGHT = 40;
/** A category with a small share is still visible. */
const MIN_HEIGHT = 2;
const CATEGORIES = [...new Set(Object.values(AMOUNTS).map(({ category }) => category))];

/** For an estimate without amounts. */
const GHOST_HEIGHTS = [16, 26, 34, 12, 40, 20];

/** A column of the picture; its top is round, so it continues below the picture. */
interface Column {
  category: Category;
  x: string;
  y: number;
  isLargest: boolean;
}

/**
 * The picture of an estimate: a column for each category, always in the same order, so that columns keep their places
 * while amounts change. Heights are in proportion to the largest. It repeats the numbers beside it.
 */
export function ridgeOf(estimate: FootprintEstimate | null): Column[] {
  const categories = estimate ? categoriesOf(estimate) : [];
  const [largest = { category: "", kg: 0 }] = categories;
  return CATEGORIES.map((category, index) => {
    const kg = categories.find((one) => one.category === category)?.kg ?? 0;
    const share = kg > 0 ? Math.max(MIN_HEIGHT, Math.round((RIDGE_HEIGHT * kg) / largest.kg)) : 0;
    const height = estimate ? share : (GHOST_HEIGHTS[index] ?? 0);
    const x = `${Math.round((index * 1000) / CATEGORIES.length) / 10}%`;
    return { category, x, y: RIDGE_HEIGHT - height, isLargest: kg > 0 && category === largest.category };
  });
}

/** The attributes of a column besides its place. */
export const COLUMN = { width: "15.6%", height: 2 * RIDGE_HEIGHT, rx: 8 };

export function ridgeSvg(estimate: FootprintEstimate): string {
  const columns = ridgeOf(estimate).map(
    ({ x, y, isLargest }) =>
      `<rect x="${x}" y="${y}" width="${COLUMN.width}" height="${COLUMN.height}" rx="${COLUMN.rx}"${isLargest ? ' class="ridge-largest"' : ""}/>`,
  );
  return `<svg class="ridge" aria-hidden="true">${columns.join("")}</svg>`;
}

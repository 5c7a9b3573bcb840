import { renderToStaticMarkup } from "react-dom/server";
import { type PageCarbon, RATINGS } from "./carbon.ts";

/** The right end of the scale. */
const MAX_GRAMS = 0.8;
/** In pixels. The chart is as wide as the text, so x is a percentage. */
const [HEIGHT, BASELINE, DOT_PX] = [132, 108, 9];
/** Dots that are closer than this are stacked: the width of a dot in a text column of 640 px. */
const DOT_GRAMS = (DOT_PX * MAX_GRAMS) / 640;

/**
 * A scale with the limits of the ratings and a dot for each page. The table beside it has the same figures, so the chart
 * is hidden from screen readers.
 */
export function weightChart(carbon: readonly PageCarbon[]): string {
  const limits = Object.values(RATINGS).map(Number);
  const middles = [0, ...limits].map((from, at) => (from + (limits[at] ?? MAX_GRAMS)) / 2);
  return renderToStaticMarkup(
    <svg className="weights" height={HEIGHT} aria-hidden="true">
      {limits.map((grams) => (
        <line key={grams} x1={percent(grams)} x2={percent(grams)} y2={BASELINE} />
      ))}
      {[...Object.keys(RATINGS), "F"].map((name, at) => (
        <text key={name} x={percent(middles[at] ?? 0)} y={12}>
          {name}
        </text>
      ))}
      {stacked(carbon.map(({ grams }) => grams)).map(({ grams, level }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: several dots are equal, and the chart never changes
        <circle key={at} cx={percent(grams)} cy={BASELINE - DOT_PX / 2 - level * DOT_PX} r={DOT_PX / 2 - 1} />
      ))}
      <line x2="100%" y1={BASELINE} y2={BASELINE} />
      {[0, 0.2, 0.4, 0.6, MAX_GRAMS].map((grams) => (
        <text key={grams} x={percent(grams)} y={HEIGHT - 6}>
          {grams === MAX_GRAMS ? `${grams} g` : grams}
        </text>
      ))}
    </svg>,
  );
}

/** Each figure with the lowest level that has room for its dot. */
function stacked(figures: readonly number[]): { grams: number; level: number }[] {
  const ends: number[] = [];
  return figures
    .toSorted((a, b) => a - b)
    .map((grams) => {
      const free = ends.findIndex((end) => end <= grams);
      const level = free < 0 ? ends.length : free;
      ends[level] = grams + DOT_GRAMS;
      return { grams, level };
    });
}

function percent(grams: number): string {
  return `${Number(((100 * grams) / MAX_GRAMS).toFixed(1))}%`;
}

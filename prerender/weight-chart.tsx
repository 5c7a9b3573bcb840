import { renderToStaticMarkup } from "react-dom/server";
import { RATINGS } from "./carbon.ts";

/** The right end of the scale. */
const MAX_GRAMS = 0.8;
/** In pixels. The chart is as wide as the text, so x is a percentage. */
const [HEIGHT, BASELINE, DOT_PX, LABEL_PX] = [132, 108, 9, 18];
/** There is room for this many labels, one above the other. */
const LABELS = 5;
/** Dots that are closer than this are stacked: the width of a dot in a text column of 640 px. */
const DOT_GRAMS = (DOT_PX * MAX_GRAMS) / 640;

/** The emissions of a page's first view, with its name for readers. */
export interface NamedWeight {
  name: string;
  grams: number;
  rating: string;
}

/**
 * A scale with the limits of the ratings and a dot for each page, the heaviest of them labelled. The table beside it has the
 * same figures, so the chart is hidden from screen readers. Takes the heaviest page first.
 */
export function weightChart(weights: readonly NamedWeight[]): string {
  const limits = Object.values(RATINGS).map(Number);
  const dots = stacked(weights);
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
      {labelled(dots).map(({ label, grams, y }, at) => {
        // Clear of the baseline.
        const labelY = BASELINE - DOT_PX / 2 - 2 - at * LABEL_PX;
        return (
          <g key={label}>
            <line x1={percent(grams)} x2={percent(grams)} y1={y} y2={labelY} />
            <text x={percent(grams)} y={labelY} dx={DOT_PX} dy="0.35em">
              {label}
            </text>
          </g>
        );
      })}
      {dots.map(({ name, grams, y }) => (
        <circle key={name} cx={percent(grams)} cy={y} r={DOT_PX / 2 - 1} />
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

interface Dot {
  name: string;
  grams: number;
  y: number;
}

/** Each page's dot on the lowest level that has room for it. */
function stacked(weights: readonly NamedWeight[]): Dot[] {
  const starts: number[] = [];
  return weights.map(({ name, grams }) => {
    const free = starts.findIndex((start) => start >= grams);
    const level = free < 0 ? starts.length : free;
    starts[level] = grams - DOT_GRAMS;
    return { name, grams, y: BASELINE - DOT_PX / 2 - level * DOT_PX };
  });
}

/** The last label is for all pages that are lighter than those with a label of their own. */
function labelled(dots: readonly Dot[]): (Dot & { label: string })[] {
  const own = dots.length <= LABELS ? dots.length : LABELS - 1;
  const lightest = dots.slice(own).at(-1);
  return [
    ...dots.slice(0, own).map((dot) => ({ ...dot, label: dot.name })),
    ...(lightest ? [{ ...lightest, label: "All other pages" }] : []),
  ];
}

function percent(grams: number): string {
  return `${Number(((100 * grams) / MAX_GRAMS).toFixed(1))}%`;
}

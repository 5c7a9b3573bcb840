import type { ReactNode } from "react";
import { CAR } from "../../contract/footprint/factors.ts";

/** The page that explains the figure: under /assets/, because every other path belongs to the site's own pages. */
export const CARBON_PATH = "/assets/carbon";

/** The ticks of every ruler, however long it is. */
const TICKS = Array.from({ length: 51 }, (_, tick) => `M${tick} 8v${tick % 10 === 0 ? 8 : 4}`).join("");

export interface Scale {
  length: number;
  unit: string;
  /** Where the segment ends. A longer one fills the ruler. */
  distance: number;
}

interface RulerProps {
  figure: string;
  /** The last one stays. The others are the steps to it, which show only while they move. */
  scales: readonly Scale[];
  /** The sentence. Screen readers read it, and not the scale. */
  children: ReactNode;
}

export function Ruler({ figure, scales, children }: RulerProps) {
  return (
    <>
      <p className="ruler-figure">
        <b>{figure}</b> <span>{children}</span>
      </p>
      {scales.map(({ length, unit, distance }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: counted from the end, so that the last one stays the same
        <svg key={scales.length - index} className="ruler-scale" width="100%" height="40" aria-hidden="true">
          {/* biome-ignore lint/a11y/noSvgWithoutTitle: the image around it is hidden from screen readers */}
          <svg viewBox="0 0 50 16" width="100%" height="16" preserveAspectRatio="none">
            <path d={`M0 8h50${TICKS}`} />
            <path className="ruler-segment" d={`M0 4h${Math.min((50 * distance) / length, 50)}`} />
          </svg>
          {[0, 1, 2, 3, 4, 5].map((fifth) => (
            <text key={fifth} x={`${20 * fifth}%`} y="32">
              {`${((length * fifth) / 5).toLocaleString("en-GB")}${fifth === 5 ? ` ${unit}` : ""}`}
            </text>
          ))}
        </svg>
      ))}
    </>
  );
}

/** How far an average petrol car drives for the same emissions, by the factor of the estimate. */
export function cmByCar(kg: number): number {
  return (kg * 1e5) / CAR.petrol.kgPerUnit;
}

/** For what loading a page emits, in the precision shown. */
export function pageScale(grams: number): Scale {
  const cm = cmByCar(Number(grams.toFixed(3)) / 1000);
  return { length: 50, unit: "cm", distance: cm < 5 ? Number(cm.toFixed(1)) : Math.round(cm) };
}

import { useCallback, useState } from "react";
import type { FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import { roundedKg, unbroken } from "../../contract/footprint/fields.ts";
import { cmByCar, pageScale, Ruler, type Scale } from "../components/ruler.tsx";
import { FOOTPRINT_PATH } from "./questions.ts";

const EARTH_KM = 40_075;
/** In centimetres, the longest first, and from what length on they are used. */
const UNITS = [
  { unit: "laps", cm: EARTH_KM * 1e5, fromCm: EARTH_KM * 1e4 },
  { unit: "km", cm: 1e5, fromCm: 1e5 },
  { unit: "m", cm: 100, fromCm: 100 },
  { unit: "cm", cm: 1, fromCm: 0 },
];
/** As the footer says; there is no figure in development. */
const PAGE_GRAMS =
  typeof document === "undefined" ? 0 : Number(document.querySelector("#footer [data-fact=grams]")?.textContent) || 0;

/** From the page's ruler to the estimate's, whose distance is that of the rounded total: the visitor can check it. */
export function scalesOf(totalKg: number, pageGrams: number): [...Scale[], Scale] {
  const page = pageScale(pageGrams);
  const cm = cmByCar(roundedKg(totalKg));
  const between = [1, 2].map((step) => scaleFor(page.length * (cm / page.length) ** (step / 3), cm));
  return [page, ...between, scaleFor(cm, cm)];
}

/** At least as long as asked: 1, 2 or 5 of the longest unit that fits, or ten times as many, and so on. */
function scaleFor(lengthCm: number, distanceCm: number): Scale {
  const { unit, cm } = UNITS.find(({ fromCm }) => lengthCm >= fromCm) ?? { unit: "cm", cm: 1 };
  const power = 10 ** Math.floor(Math.log10(lengthCm / cm));
  const length = power * ([1, 2, 5].find((digit) => digit * power * cm >= lengthCm) ?? 10);
  return {
    length,
    unit: unit === "laps" && length <= 1 ? "lap" : unit,
    distance: Number((distanceCm / cm).toPrecision(2)),
  };
}

export function figureOf({ distance, unit }: Scale): string {
  const amount = distance.toLocaleString("en-GB", { minimumFractionDigits: distance < 10 ? 1 : 0 });
  return `about ${amount} ${unit.startsWith("lap") ? "times round the Earth" : unit}`;
}

/** The footer's ruler, for the visitor's total. That of a receipt is the same with and without script. */
export function EstimateRuler({ estimate, isFinal }: { estimate: FootprintEstimate | null; isFinal: boolean }) {
  const [isOver, setOver] = useState(isFinal);
  const zoom = useCallback((ruler: Element | null) => zoomOnce(ruler, () => setOver(true)), []);
  // Below it, no total is shown that the visitor could divide.
  if (!estimate || roundedKg(estimate.totalKg) < 0.1) return null;
  const scales = scalesOf(estimate.totalKg, PAGE_GRAMS);
  const earth = `Once round the Earth is ${EARTH_KM.toLocaleString("en-GB")} km.`;
  const page =
    PAGE_GRAMS > 0 && !isFinal
      ? ` Loading this page emits at most as much as ${scales[0].distance} cm, counted by another model.`
      : "";
  return (
    <div className="ruler estimate-ruler" ref={isOver ? null : zoom}>
      <Ruler figure={figureOf(scales.at(-1) ?? scales[0])} scales={isOver ? scales.slice(-1) : scales}>
        {unbroken(`by petrol car: what such a year emits. ${earth}${page}`)}{" "}
        <a href={`${FOOTPRINT_PATH}#the-ruler`}>How we count</a>
      </Ruler>
    </div>
  );
}

/** Zooms out from the first scale to the last, once they are in view: 0.4 s for each step. */
function zoomOnce(ruler: Element | null, end: () => void): () => void {
  const scales = [...(ruler?.querySelectorAll(".ruler-scale") ?? [])];
  const observer = new IntersectionObserver(([entry]) => {
    if (!entry?.isIntersecting) return;
    observer.disconnect();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return end();
    const animations = scales.flatMap((scale, step) => {
      const iterations = scale === scales.at(-1) ? 0.5 : 1;
      const timing = { duration: 800, delay: 400 * (step - 1), fill: "both", iterations } as const;
      const segment = scale.querySelector(".ruler-segment");
      const zoom = segment?.animate({ transform: ["scaleX(20)", "none", "scaleX(0.05)"] }, timing) ?? [];
      return [scale.animate({ opacity: [0, 1, 0] }, timing)].concat(zoom);
    });
    Promise.all(animations.map(({ finished }) => finished)).then(end, end);
  });
  for (const scale of scales.slice(-1)) observer.observe(scale);
  return () => observer.disconnect();
}

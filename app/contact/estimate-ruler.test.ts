import { expect, test } from "vitest";
import { figureOf, scalesOf } from "./estimate-ruler.tsx";

test.each([
  [0.1, "480 m", ["50 cm", "5 m", "50 m", "500 m"]],
  [1, "4.8 km", ["50 cm", "20 m", "500 m", "5 km"]],
  [800, "3,900 km", ["50 cm", "100 m", "20 km", "5000 km"]],
  [6_140, "0.73 times round the Earth", ["50 cm", "200 m", "100 km", "1 lap"]],
  [38_000, "4.6 times round the Earth", ["50 cm", "500 m", "500 km", "5 laps"]],
  [120_400, "14 times round the Earth", ["50 cm", "1000 m", "1000 km", "20 laps"]],
  [10_000_000, "1,200 times round the Earth", ["50 cm", "5 km", "0.5 lap", "2000 laps"]],
])("%d kg by petrol car are %s, and the ruler zooms there in four steps", (totalKg, figure, rulers) => {
  const scales = scalesOf(totalKg, 0.0166);
  expect(scales.map(({ length, unit }) => `${length} ${unit}`)).toEqual(rulers);
  expect(scales[0]?.distance).toBe(8);
  // The last segment ends at the figure, neither outside of the ruler nor near its start.
  const last = scales.at(-1) ?? scales[0];
  const { distance, length } = last;
  expect(figureOf(last)).toBe(`about ${figure}`);
  expect(distance).toBe(Number.parseFloat(figure.replace(",", "")));
  expect(distance / length).toBeGreaterThan(0.2);
  expect(distance).toBeLessThanOrEqual(length);
});

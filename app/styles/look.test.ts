import { readFileSync } from "node:fs";
import { clampRgb, formatHex, parse, rgb, wcagContrast } from "culori";
import { expect, test } from "vitest";
import { hexColours, withHues } from "./look.ts";

const STYLES = ["tokens.css", "home.css"].map((file) => readFileSync(`app/styles/${file}`, "utf8")).join("");
const STEP = 5;
const HUES = Array.from({ length: 360 / STEP }, (_, at) => at * STEP);

/** The declarations of `:root` in each theme. */
const [LIGHT, DARK] = ["light", "dark"].map((theme) => {
  const blocks = STYLES.split("}").map((block) => block.split("{").toReversed());
  const isShown = (media = "") => !media.includes("@media") || (theme === "dark" && media.includes("scheme: dark"));
  const declarations = blocks.flatMap(([text = "", selector = "", media]) =>
    selector.trimEnd().endsWith(":root") && isShown(media) ? text.split(";") : [],
  );
  const pairs = declarations.flatMap((one) => /--([\w-]+):\s*((?:oklch|var)\([^;]+)$/.exec(one.trim()) ?? []);
  return new Map(
    Array.from({ length: pairs.length / 3 }, (_, at) => [pairs[3 * at + 1] ?? "", pairs[3 * at + 2] ?? ""]),
  );
}) as [Map<string, string>, Map<string, string>];

/** A colour as browsers show it: channels outside of sRGB are clipped. */
function shownAs(name: string, theme: Map<string, string>, hue: number, accentHue: number): string {
  const look = { hue, accentHue, displayFont: null, mark: null };
  const value = withHues(theme.get(name) ?? "", look);
  const [, other] = /^var\(--([\w-]+)\)$/.exec(value) ?? [];
  if (other) return shownAs(other, theme, hue, accentHue);
  const parsed = parse(value);
  if (parsed === undefined) throw new Error(`--${name} is no colour: ${value}`);
  return formatHex(clampRgb(rgb(parsed)));
}

/** Text needs 4.5:1 on its background; borders, underlines and focus rings need 3:1. */
const PAIRS = [
  { minimum: 4.5, on: ["ground", "surface", "mist"], colours: ["ink", "ink-soft"] },
  { minimum: 4.5, on: ["ground", "surface", "danger-ground"], colours: ["danger"] },
  { minimum: 4.5, on: ["danger-ground", "marked"], colours: ["ink"] },
  { minimum: 4.5, on: ["accent", "accent-bright"], colours: ["on-accent"] },
  { minimum: 4.5, on: ["hero"], colours: ["snow", "hero-soft"] },
  { minimum: 4.5, on: ["footer"], colours: ["footer-ink", "footer-soft", "accent-bright"] },
  { minimum: 3, on: ["ground", "surface"], colours: ["control", "focus"] },
  { minimum: 3, on: ["ground", "surface", "mist", "danger-ground"], colours: ["underline"] },
];

test.each([
  ["light", LIGHT],
  ["dark", DARK],
] as const)("every pair of colours of the %s theme has its contrast for every pair of hues", (_name, theme) => {
  const tooLow = new Map<string, string>();
  const shown = (name: string) => {
    // Colours follow one hue or the other, so each is computed once per hue.
    const byHue = HUES.map((hue) => shownAs(name, theme, hue, 0));
    const byAccent = HUES.map((hue) => shownAs(name, theme, 0, hue));
    return new Set(byHue).size > new Set(byAccent).size ? byHue : byAccent;
  };
  for (const { minimum, on, colours } of PAIRS)
    for (const ground of on)
      for (const colour of colours)
        for (const back of new Set(shown(ground)))
          for (const front of new Set(shown(colour))) {
            const contrast = wcagContrast(front, back);
            if (!(contrast >= minimum)) tooLow.set(`${colour} on ${ground}`, `${front} on ${back}: ${contrast}`);
          }
  expect([...tooLow]).toEqual([]);
});

test.each([
  [178, 72],
  [262, 40],
  [0, 360],
])("the colours of icons are those of the pages, with the hues %d and %d", (hue, accentHue) => {
  expect(hexColours({ hue, accentHue, displayFont: null, mark: null })).toEqual({
    ink: shownAs("brand", LIGHT, hue, accentHue),
    accent: shownAs("accent", LIGHT, hue, accentHue),
    ground: shownAs("ground", LIGHT, hue, accentHue),
    darkGround: shownAs("ground", DARK, hue, accentHue),
  });
});

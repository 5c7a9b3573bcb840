import type { Look } from "../site-schema.ts";

export const THEMES = ["light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** The colours of tokens.css that have no opacity. A company may replace each of them. */
export const COLOUR_NAMES = [
  "brand",
  "snow",
  "accent",
  "accent-bright",
  "underline",
  "on-accent",
  "ground",
  "surface",
  "mist",
  "ink",
  "ink-soft",
  "line",
  "control",
  "focus",
  "marked",
  "danger",
  "danger-ground",
  "success",
  "success-ground",
  "hero",
  "hero-soft",
  "footer",
  "footer-ink",
  "footer-soft",
] as const;
export type ColourName = (typeof COLOUR_NAMES)[number];

/** The colours of a theme, each as `#rrggbb`. */
export type Palette = Readonly<Record<ColourName, string>>;

const DARK = "@media screen and (prefers-color-scheme:dark)";

/** The company's own colours, for a place after tokens.css. */
export function colourStyles({ colours }: Look): string {
  const rule = (theme: Theme) => {
    const declarations = Object.entries(colours).map(([name, colour]) => `--${name}:${colourIn(theme, colour)}`);
    return `:root{${declarations.join(";")}}`;
  };
  return Object.keys(colours).length > 0 ? `@layer tokens{${rule("light")}${DARK}{${rule("dark")}}}` : "";
}

/** Writes the company's hues into styles, which makes pages smaller than variables do. */
export function withHues(styles: string, { hue, accentHue }: Look): string {
  return styles
    .replaceAll("var(--hue)", String(hue))
    .replaceAll("var(--accent-hue)", String(accentHue))
    .replaceAll(/calc\((-?[\d.]+) ([+-]) ([\d.]+)\)/g, (_, first, sign, second) =>
      String(Number(first) + Number(sign + second)),
    );
}

function colourIn(theme: Theme, colour: Look["colours"][string]): string {
  return typeof colour === "string" ? colour : colour[theme];
}

/** Computes the colours of `:root` with the company's look. A value that is not a colour becomes an empty text. */
export function readPalettes(styles: string, look: Look): Record<Theme, Palette> {
  const blocks = withHues(styles, look)
    .split("}")
    .map((block) => block.split("{").toReversed());
  const declarationsIn = (isIn: (media: string) => boolean) =>
    blocks.flatMap(([declarations = "", selector = "", media = ""]) =>
      selector.trimEnd().endsWith(":root") && isIn(media) ? declarations.split(";") : [],
    );
  const light = declarationsIn((media) => !media.includes("@media"));
  const dark = declarationsIn((media) => media.includes("dark"));
  return { light: paletteOf(light, "light", look), dark: paletteOf([...light, ...dark], "dark", look) };
}

function paletteOf(declarations: readonly string[], theme: Theme, look: Look): Palette {
  const values = new Map(
    declarations.map((declaration) => {
      const [name = "", value = ""] = declaration.slice(declaration.indexOf("--") + 2).split(": ");
      return [name, value] as const;
    }),
  );
  for (const [name, colour] of Object.entries(look.colours)) values.set(name, colourIn(theme, colour));
  const resolved = (value: string): string =>
    value.replaceAll(/var\(--([\w-]+)\)/g, (_, name: string) => resolved(values.get(name) ?? ""));
  const colours = COLOUR_NAMES.map((name) => [name, hexOf(resolved(`var(--${name})`)) ?? ""]);
  return Object.fromEntries(colours) as Palette;
}

/** `null` if the text is not an opaque colour. */
export function hexOf(text: string): string | null {
  if (/^#[0-9a-f]{6}$/i.test(text)) return text.toLowerCase();
  const [, ...channels] = /^oklch\(([\d.]+) ([\d.]+) (-?[\d.]+)\)$/.exec(text) ?? [];
  if (channels.length < 3) return null;
  const [lightness = 0, chroma = 0, hue = 0] = channels.map(Number);
  const byte = (linear: number) => {
    const inGamut = Math.min(1, Math.max(0, linear));
    const encoded = inGamut <= 0.0031308 ? 12.92 * inGamut : 1.055 * inGamut ** (1 / 2.4) - 0.055;
    return Math.round(encoded * 255)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${linearRgb(lightness, chroma, (hue * Math.PI) / 180)
    .map(byte)
    .join("")}`;
}

/** The matrices are those of CSS Color 4. */
function linearRgb(lightness: number, chroma: number, hueRadians: number): number[] {
  const a = chroma * Math.cos(hueRadians);
  const b = chroma * Math.sin(hueRadians);
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
}

/** The contrast ratio of WCAG 2. */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const encoded = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return encoded <= 0.04045 ? encoded / 12.92 : ((encoded + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Text needs 4.5:1 on its background; borders, underlines and focus rings need 3:1. */
const PAIRS: readonly { minimum: number; on: readonly ColourName[]; colours: readonly ColourName[] }[] = [
  { minimum: 4.5, on: ["ground", "surface", "mist"], colours: ["ink", "ink-soft"] },
  { minimum: 4.5, on: ["ground", "surface", "danger-ground"], colours: ["danger"] },
  { minimum: 4.5, on: ["success-ground"], colours: ["success"] },
  { minimum: 4.5, on: ["danger-ground", "success-ground", "marked"], colours: ["ink"] },
  { minimum: 4.5, on: ["accent", "accent-bright"], colours: ["on-accent"] },
  { minimum: 4.5, on: ["hero"], colours: ["snow", "hero-soft"] },
  { minimum: 4.5, on: ["footer"], colours: ["footer-ink", "footer-soft", "accent-bright"] },
  { minimum: 3, on: ["ground", "surface"], colours: ["control", "focus"] },
  { minimum: 3, on: ["ground", "surface", "mist", "danger-ground", "success-ground"], colours: ["underline"] },
];

/** Names every pair of colours whose contrast is too low. */
export function contrastProblems(palettes: Record<Theme, Palette>): string[] {
  return THEMES.flatMap((theme) =>
    PAIRS.flatMap(({ minimum, on, colours }) =>
      on.flatMap((ground) =>
        colours.flatMap((colour) => {
          const contrast = contrastOf(palettes[theme][colour], palettes[theme][ground]);
          if (contrast >= minimum) return [];
          return `The colour "${colour}" on "${ground}" of the ${theme} theme has a contrast of ${contrast.toFixed(2)}:1, and needs ${minimum}:1. Change "look": a hue, or one of these colours.`;
        }),
      ),
    ),
  );
}

/** Our own mark: a rising sun over a horizon, with turbine blades for rays. All of it is within the view box. */
const RAYS =
  "M1.02 17.91c3.19-.46 7 .89 10.91 3.76a7.6 7.6 0 0 0-1.64 2.87c-3.59-1.34-7.33-3.67-9.27-6.63ZM20 6.5c1.9 2.6 2.5 6.6 1.8 11.4a7.6 7.6 0 0 0-3.3-.1c-.5-3.8-.2-8.2 1.5-11.3ZM38.98 17.91c-1.4 2.9-4.65 5.31-9.22 6.94a7.6 7.6 0 0 0-1.46-2.96c3.12-2.23 7.15-4.03 10.68-3.98Z";
const HORIZON = "M7.25 30.5h25.5a1.25 1.25 0 0 1 0 2.5h-25.5a1.25 1.25 0 0 1 0-2.5Z";
const OWN_MARK: NonNullable<Look["mark"]> = {
  viewBox: "0 0 40 40",
  ink: RAYS + HORIZON,
  accent: "M12.4 28a7.6 7.6 0 0 1 15.2 0Z",
};

/** The parts of our mark, for the animation of its rays. */
export const OWN_MARK_PARTS = { rays: RAYS, horizon: HORIZON };

export function markOf({ mark }: Look): NonNullable<Look["mark"]> {
  return mark ?? OWN_MARK;
}

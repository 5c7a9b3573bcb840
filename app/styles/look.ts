import type { Look } from "../site-schema.ts";

/** Writes the company's hues into styles, which makes pages smaller than variables do. */
export function withHues(styles: string, { hue, accentHue }: Look): string {
  return styles
    .replaceAll("var(--hue)", String(hue))
    .replaceAll("var(--accent-hue)", String(accentHue))
    .replaceAll(/calc\((-?[\d.]+) ([+-]) ([\d.]+)\)/g, (_, first, sign, second) =>
      String(Number(first) + Number(sign + second)),
    );
}

/** The colours of tokens.css that pictures, icons and browsers' frames need as `#rrggbb`. */
export function hexColours({ hue, accentHue }: Look) {
  return {
    ink: hexOf(0.3, 0.045, hue),
    accent: hexOf(0.8, 0.145, accentHue),
    ground: hexOf(0.985, 0.005, hue - 48),
    darkGround: hexOf(0.205, 0.03, hue + 2),
  };
}

/** A colour of OKLCH as browsers show it: channels outside of sRGB are clipped. The matrices are those of CSS Color 4. */
function hexOf(lightness: number, chroma: number, hue: number): string {
  const radians = (hue * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(radians), chroma * Math.sin(radians)];
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channels = [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ].map((linear) => {
    const inGamut = Math.min(1, Math.max(0, linear));
    return Math.round(255 * (inGamut <= 0.0031308 ? 12.92 * inGamut : 1.055 * inGamut ** (1 / 2.4) - 0.055));
  });
  return `#${channels.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

/** Our own mark: a rising sun over a horizon, with turbine blades for rays. All of it is within the view box. */
const OWN_MARK: NonNullable<Look["mark"]> = {
  viewBox: "0 0 40 40",
  ink: "M1.02 17.91c3.19-.46 7 .89 10.91 3.76a7.6 7.6 0 0 0-1.64 2.87c-3.59-1.34-7.33-3.67-9.27-6.63ZM20 6.5c1.9 2.6 2.5 6.6 1.8 11.4a7.6 7.6 0 0 0-3.3-.1c-.5-3.8-.2-8.2 1.5-11.3ZM38.98 17.91c-1.4 2.9-4.65 5.31-9.22 6.94a7.6 7.6 0 0 0-1.46-2.96c3.12-2.23 7.15-4.03 10.68-3.98ZM7.25 30.5h25.5a1.25 1.25 0 0 1 0 2.5h-25.5a1.25 1.25 0 0 1 0-2.5Z",
  accent: "M12.4 28a7.6 7.6 0 0 1 15.2 0Z",
};

export function markOf({ mark }: Look): NonNullable<Look["mark"]> {
  return mark ?? OWN_MARK;
}

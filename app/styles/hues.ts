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

import { readFile } from "node:fs/promises";
import fontverter from "fontverter";
import * as harfbuzz from "harfbuzzjs";

export interface Outline {
  /** SVG path data, from the baseline's left end. */
  path: string;
  widthPx: number;
}

const UNITS = 1000;

/**
 * Gives a function that draws words in the display face as SVG paths, so that pictures look the same on every machine,
 * whatever fonts it has.
 */
export async function outliner(fontFile: string, weight: number): Promise<(text: string, sizePx: number) => Outline> {
  const sfnt = await fontverter.convert(await readFile(fontFile), "sfnt");
  const bytes = new Uint8Array(sfnt).buffer;
  const font = new harfbuzz.Font(new harfbuzz.Face(new harfbuzz.Blob(bytes), 0));
  font.setScale(UNITS, UNITS);
  font.setVariations([new harfbuzz.Variation("wght", weight)]);

  return (text, sizePx) => {
    const buffer = new harfbuzz.Buffer();
    buffer.addText(text);
    buffer.guessSegmentProperties();
    harfbuzz.shape(font, buffer);
    const scale = sizePx / UNITS;
    const positions = buffer.getGlyphPositions();
    let x = 0;
    const paths = buffer.getGlyphInfos().map(({ codepoint }, index) => {
      const glyph = font
        .glyphToJson(codepoint)
        .map(
          ({ type, values }) =>
            type + values.map((value, axis) => round(axis % 2 === 0 ? x + value * scale : -value * scale)),
        )
        .join("");
      x += (positions[index]?.xAdvance ?? 0) * scale;
      return glyph;
    });
    return { path: paths.join(""), widthPx: x };
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

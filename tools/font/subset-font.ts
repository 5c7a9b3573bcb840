// `npm run font`: reduces the display typeface to the characters, weights and size that headings need. Run it after
// changing the lists below.
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import subsetFont from "subset-font";

const SOURCE = "@fontsource-variable/bricolage-grotesque/files/bricolage-grotesque-latin-opsz-normal.woff2";
const TARGET = new URL("../../app/media/display.woff2", import.meta.url);
const MAX_BYTES = 25_000;

// Printable ASCII, the accents of common Western European words, and typographic punctuation.
const letters = [...range(0x20, 0x7e), ..."£€·àáäçèéëíñóöøüåæß‘’“”–—…"].join("");
const source = await readFile(createRequire(import.meta.url).resolve(SOURCE));
const font = await subsetFont(source, letters, {
  targetFormat: "woff2",
  // Leaves out alternate shapes that only optional OpenType features use.
  noLayoutClosure: true,
  // Headings are semibold to bold; one optical size, drawn for large type, serves them all.
  variationAxes: { wght: { min: 500, max: 700 }, opsz: 48 },
});
if (font.length > MAX_BYTES) {
  console.error(`The subset is ${font.length} bytes, more than ${MAX_BYTES}. Leave out letters or narrow an axis.`);
  process.exit(1);
}
await writeFile(TARGET, font);
console.log(`app/media/display.woff2: ${font.length} bytes, ${letters.length} characters`);

function range(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index));
}

import sharp from "sharp";
import { expect, test } from "vitest";
import { readSettings } from "./site-dir.ts";
import { createSocialCards } from "./social-card.ts";

const files = { poster: "app/media/poster.jpg", displayFont: "app/media/display.woff2" };
/** Where the brand stands, and the headline, with the picture around it. */
const AREAS = {
  brand: { left: 190, top: 70, width: 400, height: 80 },
  headline: { left: 80, top: 200, width: 1100, height: 400 },
};

/** The share of each area that is as white as text. */
async function whiteIn(card: Buffer): Promise<{ brand: number; headline: number }> {
  const shareOf = async (area: (typeof AREAS)["brand"]) => {
    const pixels = await sharp(card).extract(area).greyscale().threshold(225).raw().toBuffer();
    return pixels.filter((value) => value === 255).length / pixels.length;
  };
  return { brand: await shareOf(AREAS.brand), headline: await shareOf(AREAS.headline) };
}

test("a card shows brand and headline, and leaves out what the font cannot draw or what does not fit", async () => {
  const { site } = await readSettings("app/");
  const draw = await createSocialCards(site, files);
  const long = "Which emissions our estimate counts, and which it leaves out, in homes and offices of every size";
  for (const headline of ["Privacy policy", long]) {
    const white = await whiteIn(await draw(headline));
    expect(white.brand, headline).toBeGreaterThan(0.05);
    expect(white.headline, headline).toBeGreaterThan(0.04);
  }
  for (const headline of ["Πολιτική απορρήτου", "W".repeat(60), long.repeat(3)]) {
    const white = await whiteIn(await draw(headline));
    expect(white.brand, headline).toBeGreaterThan(0.05);
    expect(white.headline, headline).toBeLessThan(0.005);
  }
  const other = await createSocialCards({ ...site, brand: "Άνθρακας" }, files);
  expect((await whiteIn(await other("Privacy policy"))).brand).toBe(0);
});

import { expect, test } from "vitest";
import { site } from "../app/site.ts";
import { palettesOf } from "./look.ts";
import { socialCardDrawer, TitleRefused } from "./pictures.ts";

test("a title whose longest word does not fit the social card is refused by name", async () => {
  const files = { font: "app/media/display.woff2", poster: "app/media/poster.jpg" };
  const drawn = (await socialCardDrawer(site, palettesOf(site.look).light, files))("long".repeat(12));
  await expect(drawn).rejects.toThrow(TitleRefused);
  await expect(drawn).rejects.toThrow(/^The social card has no room for "(long)+"; shorten that title, or its longest/);
});

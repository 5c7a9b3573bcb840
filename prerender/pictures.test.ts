import { expect, test } from "vitest";
import { site } from "../app/site.ts";
import { socialCardDrawer, TitleRefused } from "./pictures.ts";

test("a title whose longest word does not fit the social card is refused by name", async () => {
  const drawn = (await socialCardDrawer(site))("long".repeat(12));
  await expect(drawn).rejects.toThrow(TitleRefused);
  await expect(drawn).rejects.toThrow(/^The social card has no room for "(long)+"; shorten that title, or its longest/);
});

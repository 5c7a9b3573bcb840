// Renews contract/footprint/electricity.json. Run it after updating @tgwf/co2 or the factors of the UK.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { averageIntensity } from "@tgwf/co2";
import type { ElectricityTable, Intensity } from "../contract/footprint/arithmetic.ts";
import { UK_ELECTRICITY } from "../contract/footprint/factors.ts";
import LIST from "../prerender/countries.json" with { type: "json" };

// The package does not export its version, but our package.json has the exact version.
const project = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: Record<string, string> };
const version = project.dependencies["@tgwf/co2"];

// The package omits the year of each figure. Its repository has the years in data/output/average-intensities.json.
const YEARS = {
  ofVersion: "0.19.0",
  usual: 2024,
  2023: "AF AG AL AO AS BB BF BH BI BJ BN BT BW BZ CD CG CI CM CU DJ DM DZ ER ET FJ GA GH GM GN GQ GT GY HK HN ID IL IQ IS KM KY LA LB LR LY ML MU MV MZ NA NE NI NR PA PG PY RW SB SC SD SL SN SO SR SS SZ TC TG TM TO TT TZ UZ VC VE VG VI VU WS YE ZM ZW",
  2022: "AW BS CF CK CV FK FO GD GF GL GP GU GW HT JM JO KI KN KP LC LK LS MG MO MQ MR MS MW NC NP PF PM PS RE ST SY TD UA UG",
};

/** These have a round 1,000 g, which is not a measurement. */
const DOUBTFUL = ["FK", "MS"];

/** Emissions per kWh by country: Ember's figures in `@tgwf/co2`, and for the UK those that UK companies report with. */
export function electricityTable(): ElectricityTable {
  if (version !== YEARS.ofVersion) {
    throw new Error(
      `tools/electricity.ts has the years of the figures in @tgwf/co2 ${YEARS.ofVersion}, but ${version} is installed; ` +
        "take them from data/output/average-intensities.json of its repository.",
    );
  }
  const countries: Record<string, Intensity> = {};
  for (const { cca2, cca3 } of LIST.countries) {
    // Kosovo has no official three-letter code.
    const grams = averageIntensity.data[cca2 === "XK" ? "XKX" : cca3];
    // A figure of 0 is an error in the source.
    if (grams !== undefined && grams > 0 && !DOUBTFUL.includes(cca2)) countries[cca2] = [grams, yearOf(cca2)];
  }
  countries.GB = [Math.round(UK_ELECTRICITY.kgPerUnit * 1e5) / 100, UK_ELECTRICITY.year];
  const world = averageIntensity.data.WORLD;
  if (world === undefined) throw new Error("@tgwf/co2 has no figure for the world.");
  const all = Object.values(countries).map(([grams]) => grams);
  return {
    name: `Ember 2022-${YEARS.usual} (co2.js ${version}), UK: DESNZ`,
    world: [world, YEARS.usual],
    worldRange: [percentile(all, 0.1), percentile(all, 0.9)],
    countries,
  };
}

function percentile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? 0;
  return Math.round((below + (above - below) * (place % 1)) * 100) / 100;
}

function yearOf(cca2: string): number {
  if (YEARS[2023].includes(cca2)) return 2023;
  return YEARS[2022].includes(cca2) ? 2022 : YEARS.usual;
}

if (import.meta.main) {
  // One country a line, so that a change is easy to read.
  const json = JSON.stringify(electricityTable()).replaceAll(/("[A-Z]{2}"):/g, "\n$1:");
  await writeFile("contract/footprint/electricity.json", json);
  execFileSync("biome", ["format", "--write", "contract/footprint/electricity.json"]);
}

// Once a year, when new factors are published:
// 1. Enter the new rows here, with a new FACTORS_NAME and NEXT_FACTORS_DUE.
// 2. Install the newest @tgwf/co2, enter the years of its figures in tools/electricity.ts, and run that.
// 3. Correct the tables in app/explanations/footprint.md and the figures in contract/footprint/arithmetic.test.ts.

export interface Factor {
  kgPerUnit: number;
  unit: "kWh" | "litre" | "km" | "passenger km" | "night";
  year: number;
  source: string;
  /** The lowest and highest figures, if the source has several, and what they apply to. */
  range?: { low: number; high: number; between: readonly string[] };
}

/** The date by which the UK Government should have published the next factors. From then on builds say so. */
export const NEXT_FACTORS_DUE = "2027-06-30";

/** Stored with each estimate. Change the name whenever a figure changes. */
export const FACTORS_NAME = "DESNZ 2026 v1.2";
const DESNZ = "UK Government (DESNZ) conversion factors 2026, v1.2";

export const EMBER = "Ember, yearly electricity data, in the Green Web Foundation’s co2.js";

/** Derived from 0.02686, 0.02469 and 0.02790 kg per km, with the UK grid at 0.13096 kg per kWh. */
export const ELECTRIC_CAR_KWH_PER_KM = { average: 0.205, small: 0.189, large: 0.213 };
export const CAR_SIZES = "small and large cars";

/** The source's rows that add up to a factor, by id. */
type Rows = Readonly<Record<string, number>>;

function desnz(unit: Factor["unit"], rows: Rows): Factor {
  const sum = Object.values(rows).reduce((total, kg) => total + kg, 0);
  // The source has five decimals; further ones are rounding errors.
  const kgPerUnit = Math.round(sum * 1e5) / 1e5;
  return { kgPerUnit, unit, year: 2026, source: DESNZ };
}

function withRange(factor: Factor, between: string, low: Factor, high: Factor): Factor {
  return { ...factor, range: { low: low.kgPerUnit, high: high.kgPerUnit, between: [between] } };
}

/** Per kWh generated, without losses in the grid, like all electricity figures. UK companies report with these rows. */
export const UK_ELECTRICITY = desnz("kWh", { "7_400_4000_5_1": 0.13096, "15_917_4000_5_1": 0.03682 });

/** An electric car of average size on the UK's grid. The source counts the losses in the grid for it. */
export const UK_ELECTRIC_CAR = desnz("km", {
  "8_301_3076_4_1": 0.02686,
  "14_301_3076_4_1": 0.00266,
  "26_904_3076_4_1": 0.01049,
});

const naturalGas = desnz("kWh", { "1_100_1004_6_1": 0.18231, "11_100_1004_6_1": 0.03021 });
const heatingOil = desnz("litre", { "1_101_1010_8_1": 2.54016, "11_101_1010_8_1": 0.53078 });
const lpg = desnz("litre", { "1_100_1003_8_1": 1.55713, "11_100_1003_8_1": 0.18551 });
export const HEATING = { gasKwh: naturalGas, heatingOilLitres: heatingOil, lpgLitres: lpg } as const;

const car = (average: Rows, small: Rows, large: Rows) =>
  withRange(desnz("km", average), CAR_SIZES, desnz("km", small), desnz("km", large));

/** A car of average size. The figure for an electric car depends on the grid: see `ELECTRIC_CAR_KWH_PER_KM`. */
export const CAR = {
  petrol: car(
    { "4_301_3070_4_1": 0.16152, "26_904_3070_4_1": 0.04599 },
    { "4_301_3046_4_1": 0.14257, "26_904_3046_4_1": 0.04015 },
    { "4_301_3062_4_1": 0.26606, "26_904_3062_4_1": 0.07528 },
  ),
  diesel: car(
    { "4_301_3069_4_1": 0.17265, "26_904_3069_4_1": 0.04146 },
    { "4_301_3045_4_1": 0.14327, "26_904_3045_4_1": 0.03409 },
    { "4_301_3061_4_1": 0.20905, "26_904_3061_4_1": 0.0507 },
  ),
  hybrid: car(
    { "4_301_3071_4_1": 0.12961, "26_904_3071_4_1": 0.03315 },
    { "4_301_3047_4_1": 0.1138, "26_904_3047_4_1": 0.03026 },
    { "4_301_3063_4_1": 0.15846, "26_904_3063_4_1": 0.03961 },
  ),
} as const;

const averageBus = desnz("passenger km", { "25_314_3145_11_1": 0.10151, "26_910_3145_11_1": 0.02649 });
const londonBus = desnz("passenger km", { "25_314_3144_11_1": 0.0636, "26_910_3144_11_1": 0.01821 });
const otherBus = desnz("passenger km", { "25_314_3143_11_1": 0.12552, "26_910_3143_11_1": 0.03174 });
const regularTaxi = desnz("passenger km", { "25_313_3141_11_1": 0.14861, "26_909_3141_11_1": 0.03697 });
const blackCab = desnz("passenger km", { "25_313_3142_11_1": 0.20402, "26_909_3142_11_1": 0.0509 });

export const PUBLIC_TRANSPORT = {
  railKm: desnz("passenger km", { "25_315_3147_11_1": 0.03092, "26_911_3147_11_1": 0.00897 }),
  coachKm: desnz("passenger km", { "25_314_3146_11_1": 0.03948, "26_910_3146_11_1": 0.00656 }),
  busKm: withRange(averageBus, "buses in London and elsewhere in the UK", londonBus, otherBus),
  taxiKm: withRange(regularTaxi, "a regular taxi and a black cab", regularTaxi, blackCab),
} as const;

/** With the other effects of aircraft at height. */
const flight = (rows: Rows) => desnz("passenger km", rows);

/** For an average passenger, because the source has no classes for domestic flights. */
export const DOMESTIC_FLIGHT = flight({ "21_316_3160_11_1": 0.22928, "22_912_3160_11_1": 0.0335 });

export const SHORT_FLIGHT = {
  economy: flight({ "21_316_3164_11_1": 0.12576, "22_912_3164_11_1": 0.02249 }),
  business: flight({ "21_316_3166_11_1": 0.18863, "22_912_3166_11_1": 0.03373 }),
} as const;

/** The source counts less for a flight that neither starts nor ends in the UK. */
const longFlight = (rows: Rows, elsewhere: Rows) =>
  withRange(flight(rows), "UK and other long flights", flight(elsewhere), flight(rows));

export const LONG_FLIGHT = {
  economy: longFlight(
    { "21_316_3170_11_1": 0.11704, "22_912_3170_11_1": 0.02461 },
    { "21_316_3180_11_1": 0.10916, "22_912_3180_11_1": 0.01656 },
  ),
  premium: longFlight(
    { "21_316_3172_11_1": 0.18726, "22_912_3172_11_1": 0.03937 },
    { "21_316_3182_11_1": 0.17465, "22_912_3182_11_1": 0.02649 },
  ),
  business: longFlight(
    { "21_316_3174_11_1": 0.3394, "22_912_3174_11_1": 0.07137 },
    { "21_316_3184_11_1": 0.31656, "22_912_3184_11_1": 0.04802 },
  ),
  first: longFlight(
    { "21_316_3176_11_1": 0.46814, "22_912_3176_11_1": 0.09844 },
    { "21_316_3186_11_1": 0.43663, "22_912_3186_11_1": 0.06623 },
  ),
} as const;

const hotel = (row: string, kg: number) => desnz("night", { [row]: kg });

export const HOTEL: Readonly<Record<string, Factor>> = {
  GB: hotel("29_600_4000_13_1", 10.4),
  AU: hotel("29_600_4003_13_1", 35.0),
  BE: hotel("29_600_4005_13_1", 12.2),
  BR: hotel("29_600_4006_13_1", 8.7),
  CA: hotel("29_600_4007_13_1", 7.4),
  CL: hotel("29_600_4008_13_1", 27.6),
  CN: hotel("29_600_4009_13_1", 53.5),
  CO: hotel("29_600_4010_13_1", 14.7),
  CR: hotel("29_600_4011_13_1", 4.7),
  EG: hotel("29_600_4013_13_1", 44.2),
  FR: hotel("29_600_4016_13_1", 6.7),
  DE: hotel("29_600_4017_13_1", 13.2),
  HK: hotel("29_600_4019_13_1", 51.5),
  IN: hotel("29_600_4020_13_1", 58.9),
  ID: hotel("29_600_4021_13_1", 62.7),
  IT: hotel("29_600_4024_13_1", 14.3),
  JP: hotel("29_600_4025_13_1", 39.0),
  JO: hotel("29_600_4026_13_1", 68.9),
  KR: hotel("29_600_4028_13_1", 55.8),
  MY: hotel("29_600_4030_13_1", 61.5),
  MV: hotel("29_600_4031_13_1", 152.2),
  MX: hotel("29_600_4032_13_1", 19.3),
  NL: hotel("29_600_4033_13_1", 14.8),
  OM: hotel("29_600_4035_13_1", 90.3),
  PH: hotel("29_600_4038_13_1", 54.3),
  PT: hotel("29_600_4040_13_1", 19.0),
  QA: hotel("29_600_4041_13_1", 86.2),
  RU: hotel("29_600_4043_13_1", 24.2),
  SA: hotel("29_600_4044_13_1", 106.4),
  SG: hotel("29_600_4045_13_1", 24.5),
  ZA: hotel("29_600_4046_13_1", 51.4),
  ES: hotel("29_600_4047_13_1", 7.0),
  CH: hotel("29_600_4048_13_1", 6.6),
  TH: hotel("29_600_4050_13_1", 43.4),
  TR: hotel("29_600_4051_13_1", 32.1),
  AE: hotel("29_600_4052_13_1", 63.8),
  US: hotel("29_600_4053_13_1", 16.1),
  VN: hotel("29_600_4054_13_1", 38.5),
};

const hotelKg = Object.values(HOTEL).map(({ kgPerUnit }) => kgPerUnit);
export const HOTEL_COUNTRIES = hotelKg.length;

/** For a country without its own figure: the unweighted mean of all countries that have one. */
export const HOTEL_ELSEWHERE: Factor = {
  ...hotel("", Math.round((hotelKg.reduce((total, kg) => total + kg, 0) / HOTEL_COUNTRIES) * 10) / 10),
  range: { low: Math.min(...hotelKg), high: Math.max(...hotelKg), between: ["hotels in different countries"] },
};

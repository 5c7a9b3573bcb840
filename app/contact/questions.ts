import { unbroken } from "../../contract/footprint/fields.ts";

/** Two texts: for a household and for an organisation. The page contains both, and CSS shows the chosen one. */
export type Words = string | readonly [household: string, organisation: string];

/** Questions that belong together, with a note on where to find the numbers. */
export interface Group {
  legend: Words;
  note: Words;
  questions: readonly (readonly [field: string, label: string])[];
}

const SHORT_IS = unbroken("Short flights are up to about 3,700 km one way.");

/** The questions that most people can answer. */
export const FIRST: readonly Group[] = [
  {
    legend: ["Home energy", "Energy of your site"],
    note: [
      "In kWh, as on your suppliers’ yearly bills. For a shared home, enter your share.",
      "In kWh, as on your suppliers’ yearly bills. For a shared building, enter your share.",
    ],
    questions: [
      ["electricityKwh", "Electricity (kWh)"],
      ["gasKwh", "Natural gas (kWh)"],
    ],
  },
  {
    legend: ["Car", "Vehicles"],
    note: [
      "From the odometer: today’s reading minus the reading a year ago.",
      "All vehicles together, from the fleet’s records or fuel cards.",
    ],
    questions: [
      ["carKm", "Distance"],
      ["carUnit", "Unit"],
      ["carFuel", "Fuel"],
    ],
  },
  {
    legend: "Flights",
    note: [
      `From your calendar or your bookings. A return trip is one flight. ${SHORT_IS}`,
      `From your bookings, for all people together. A return trip is one flight for each person. ${SHORT_IS}`,
    ],
    questions: [
      ["shortFlights", "Short return flights"],
      ["longFlights", "Long return flights"],
    ],
  },
];

/** The questions that are folded at first. */
export const FOLDED_GROUPS: Readonly<Record<"flights" | "more", readonly Group[]>> = {
  flights: [
    {
      legend: "Short flights",
      note: "Flights of up to 500 km one way count as domestic.",
      questions: [
        ["shortFlightKm", "Km one way"],
        ["shortFlightClass", "Class"],
      ],
    },
    {
      legend: "Long flights",
      note: "More than 3,700 km one way.",
      questions: [
        ["longFlightKm", "Km one way"],
        ["longFlightClass", "Class"],
      ],
    },
  ],
  more: [
    {
      legend: "Public transport and taxi",
      note: [
        "In km a year: the distance of one trip, times the number of trips.",
        "In km a year, for all people together: the distance of one trip, times the number of trips.",
      ],
      questions: [
        ["railKm", "Train (km)"],
        ["coachKm", "Coach (km)"],
        ["busKm", "Local bus (km)"],
        ["taxiKm", "Taxi (km)"],
      ],
    },
    {
      legend: "Hotels",
      note: "We use the figure for your country.",
      questions: [["hotelNights", "Nights (count each room)"]],
    },
    {
      legend: "Other fuels",
      note: "In litres, from one year’s invoices.",
      questions: [
        ["heatingOilLitres", "Heating oil (litres)"],
        ["lpgLitres", "LPG (litres)"],
      ],
    },
  ],
};

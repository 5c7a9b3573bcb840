import { type FootprintField, unbroken } from "../../contract/footprint/fields.ts";

/** The page that explains the figures: under /assets/, because every other path belongs to the site's own pages. */
export const FOOTPRINT_PATH = "/assets/footprint";

export interface Group {
  legend: string;
  note: string;
  labels: Readonly<Partial<Record<FootprintField, string>>>;
}

export const ENERGY: Group = {
  legend: "Energy of your home or site",
  note: "In kWh, as on your suppliers’ bills. For a shared building, enter your share.",
  labels: {
    electricityKwh: "Electricity (kWh)",
    electricityPer: "Electricity per",
    gasKwh: "Natural gas (kWh)",
    gasPer: "Natural gas per",
  },
};

export const GROUPS: readonly Group[] = [
  {
    legend: "Who is it for?",
    note: "Every amount below is for all the people counted.",
    labels: { for: "For whom", people: "Number of people" },
  },
  ENERGY,
  {
    legend: "Cars",
    note: "All cars together, from the odometers (today’s reading minus the reading a year ago) or the fleet’s records.",
    labels: { carKm: "Distance", carUnit: "Unit", carFuel: "Fuel" },
  },
  {
    legend: "Flights",
    note: `From calendars or bookings. A return trip is one flight for each person: three people on one trip are three flights. ${unbroken("Short flights are up to about 3,700 km one way.")}`,
    labels: { shortFlights: "Short return flights", longFlights: "Long return flights" },
  },
];

export const FOLDED: readonly { title: string; note: string; groups: readonly Group[] }[] = [
  {
    title: "Flight distance and class",
    note: unbroken("default: 1,500 and 6,500 km, economy"),
    groups: [
      {
        legend: "Short flights",
        note: "Flights of up to 500 km one way count as domestic.",
        labels: { shortFlightKm: "Km one way", shortFlightClass: "Class" },
      },
      {
        legend: "Long flights",
        note: "More than 3,700 km one way.",
        labels: { longFlightKm: "Km one way", longFlightClass: "Class" },
      },
    ],
  },
  {
    title: "Add more",
    note: "public transport, hotels, other fuels",
    groups: [
      {
        legend: "Public transport and taxi",
        note: "In km a year: the distance of one trip, times the number of trips, for each person.",
        labels: { railKm: "Train (km)", coachKm: "Coach (km)", busKm: "Local bus (km)", taxiKm: "Taxi (km)" },
      },
      {
        legend: "Hotels",
        note: "We use the figure for your country.",
        labels: { hotelNights: "Nights (count each room)" },
      },
      {
        legend: "Other fuels",
        note: "In litres, from one year’s invoices.",
        labels: { heatingOilLitres: "Heating oil (litres)", lpgLitres: "LPG (litres)" },
      },
    ],
  },
];

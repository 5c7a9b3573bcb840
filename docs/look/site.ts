/** An example of a company's own look: put such a file, the film and the picture into the folder that SITE_DIR names. */
export const site = {
  brand: "Tidewater Climate",
  legalName: "Tidewater Climate Limited",
  referencePrefix: "TW",
  look: {
    hue: 262,
    accentHue: 40,
    mark: {
      viewBox: "0 0 32 32",
      ink: "M2 21c4-3 8-3 14 0s10 3 14 0v4c-4 3-8 3-14 0s-10-3-14 0ZM2 27.500c4-3 8-3 14 0s10 3 14 0v2.500c-4 3-8 3-14 0s-10-3-14 0Z",
      accent: "M8.500 16a7.500 7.500 0 0 1 15 0Z",
    },
  },
  hero: {
    headline: "Offsetting, from the coast",
    subtitle: "Measure what you emit, cut what you can, and pay for offshore wind elsewhere.",
  },
  heroFilm: "off",
  heroPicture: { file: "hero.svg", alt: "Wind turbines at sea, in the evening." },
};

/** Where the footer's figure is explained: under /assets/, since every other path is for visitors' own pages. */
export const CARBON_PATH = "/assets/carbon";

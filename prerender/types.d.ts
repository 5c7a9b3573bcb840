// Types for the few functions that we use from a package without types.

declare module "@tgwf/co2" {
  export class co2 {
    constructor(options: { model: "swd"; version: 4; rating: true });
    perVisit(bytes: number, isGreenHost?: boolean): { total: number; rating: string };
  }
  /** By three-letter code, and `WORLD`. */
  export const averageIntensity: { data: Readonly<Record<string, number>> };
}

declare module "@tgwf/co2" {
  export class co2 {
    constructor(options: { model: "swd"; version: 4; rating: true });
    perVisit(bytes: number, isGreenHost?: boolean): { total: number; rating: string };
  }
}

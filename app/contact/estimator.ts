import { useEffect, useState } from "react";
import type { ElectricityTable } from "../../contract/footprint/arithmetic.ts";
import { tryTwice } from "./countries.ts";

export interface Estimator {
  module: typeof import("./estimate-result.tsx");
  electricity: ElectricityTable;
}

/** Loads the arithmetic, the factors and the electricity figures when the visitor opens the estimate. */
export function useEstimator(isOpen: boolean, electricityUrl: string): Estimator | "failed" | null {
  const [estimator, setEstimator] = useState<Estimator | "failed" | null>(null);
  const isNeeded = isOpen || estimator !== null;
  useEffect(() => {
    if (!isNeeded) return;
    const load = async () => {
      const [module, electricity] = await Promise.all([
        tryTwice(() => import("./estimate-result.tsx")),
        tryTwice(() => loadElectricity(electricityUrl)),
      ]);
      setEstimator({ module, electricity });
    };
    load().catch((error: unknown) => {
      console.error("The footprint estimate did not load.", error);
      setEstimator("failed");
    });
  }, [isNeeded, electricityUrl]);
  return estimator;
}

async function loadElectricity(url: string): Promise<ElectricityTable> {
  const response = await fetch(url, { credentials: "omit" });
  if (!response.ok) throw new Error(`The electricity table answered ${response.status}.`);
  return response.json();
}

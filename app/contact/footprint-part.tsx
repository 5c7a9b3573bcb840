import { type ReactNode, type Ref, type RefObject, useEffect, useImperativeHandle, useRef, useState } from "react";
import {
  AMOUNTS,
  CHOICES,
  DISTANCES,
  FIELD_PREFIX,
  type FootprintErrors,
  optionLabel,
} from "../../contract/footprint-fields.ts";
import { tryTwice } from "./countries.ts";
import { controlProps, Frame } from "./field.tsx";
import type { Estimator } from "./footprint-estimate.tsx";

/** The fragment that opens the part. */
const FRAGMENT = "footprint";
/** The page that explains the figures: under /assets/, because every other path belongs to the site's own pages. */
export const FOOTPRINT_PATH = "/assets/footprint";
/** Long enough that a total is announced once somebody has stopped typing. */
const ANNOUNCE_AFTER_MS = 1200;

type Control = readonly [name: string, label: string];
const GROUPS: readonly { legend: string; note?: string; controls: readonly Control[] }[] = [
  {
    legend: "Home or premises",
    controls: [
      ["electricityKwh", "Electricity (kWh)"],
      ["gasKwh", "Natural gas (kWh)"],
      ["heatingOilLitres", "Heating oil (litres)"],
      ["lpgLitres", "LPG (litres)"],
    ],
  },
  {
    legend: "Car",
    controls: [
      ["carKm", "Distance (km)"],
      ["carFuel", "Fuel"],
    ],
  },
  {
    legend: "Public transport and taxi",
    controls: [
      ["railKm", "Train (km)"],
      ["coachKm", "Coach (km)"],
      ["busKm", "Local bus (km)"],
      ["taxiKm", "Taxi (km)"],
    ],
  },
  {
    legend: "Short flights",
    note: "up to about 3,700 km one way; up to 500 km they count as domestic",
    controls: [
      ["shortFlights", "Return flights"],
      ["shortFlightKm", "Km one way"],
      ["shortFlightClass", "Class"],
    ],
  },
  {
    legend: "Long flights",
    controls: [
      ["longFlights", "Return flights"],
      ["longFlightKm", "Km one way"],
      ["longFlightClass", "Class"],
    ],
  },
  { legend: "Hotels", note: "with the figure of your own country", controls: [["hotelNights", "Nights, one room"]] },
];

/** What the form asks of the part when it is sent. */
export interface FootprintHandle {
  /** `fields` is what goes into the body: nothing, the inputs as numbers, or the text where no figures are loaded. */
  read(): { fields: object; errors: FootprintErrors };
  open(): void;
  close(): void;
}

interface FootprintPartProps {
  ref: Ref<FootprintHandle>;
  form: RefObject<HTMLFormElement | null>;
  formId: string;
  electricityUrl: string;
  errors: FootprintErrors;
  onEdit(field: string): void;
  /** Nothing was changed, but what is shown depends on where the focus is. */
  onBlur(): void;
}

/**
 * The optional estimate: plain inputs of the contact form, in a place of their own. What it computes with is loaded when
 * it is opened. Without script the server computes it.
 */
export function FootprintPart({ ref, form, formId, electricityUrl, errors, onEdit, onBlur }: FootprintPartProps) {
  const details = useRef<HTMLDetailsElement>(null);
  const [estimator, setEstimator] = useState<Estimator | "loading" | "failed" | null>(null);
  // Uncontrolled like the other fields, so that the browser restores it with the distance.
  const isInMiles = useRef<HTMLInputElement>(null);
  const loaded = typeof estimator === "object" ? estimator : null;
  const reading = loaded && form.current ? loaded.read(form.current) : null;
  const announced = useLater(reading?.total ?? "");

  async function load() {
    if (loaded || estimator === "loading") return;
    setEstimator("loading");
    try {
      setEstimator(
        await tryTwice(async () => {
          const { loadEstimator } = await import("./footprint-estimate.tsx");
          return loadEstimator(electricityUrl);
        }),
      );
    } catch (error) {
      console.error("The footprint estimate did not load.", error);
      setEstimator("failed");
    }
  }

  // Opened by the address, or because the browser has kept what was entered before.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the page has become interactive
  useEffect(() => {
    const openIfAsked = () => {
      if (location.hash !== `#${FRAGMENT}` || !details.current || details.current.open) return;
      details.current.open = true;
      details.current.scrollIntoView();
    };
    if (form.current && hasAmounts(form.current) && details.current) details.current.open = true;
    openIfAsked();
    if (details.current?.open) load();
    addEventListener("hashchange", openIfAsked);
    return () => removeEventListener("hashchange", openIfAsked);
  }, []);

  useImperativeHandle(ref, () => ({
    read: () => reading ?? { fields: form.current ? textsOf(form.current) : {}, errors: {} },
    open: () => details.current?.setAttribute("open", ""),
    close: () => details.current?.removeAttribute("open"),
  }));

  function remove() {
    for (const control of details.current?.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select") ??
      []) {
      if (control instanceof HTMLSelectElement) control.selectedIndex = 0;
      else if (control.type === "checkbox") control.checked = false;
      else control.value = control.defaultValue;
      onEdit(control.name);
    }
    details.current?.removeAttribute("open");
    details.current?.querySelector("summary")?.focus();
  }

  function control([field, label]: Control): ReactNode {
    const name = FIELD_PREFIX + field;
    const isFocused = typeof document !== "undefined" && document.activeElement?.id === name;
    const key = name as keyof FootprintErrors;
    const error = errors[key] ?? (isFocused ? undefined : reading?.errors[key]);
    const hint = error === undefined ? reading?.hints[name] : undefined;
    const isCar = field === "carKm" && isInMiles.current?.checked;
    return (
      <Frame key={name} name={name} label={isCar ? "Distance (miles)" : label} error={error} hint={hint}>
        {field in CHOICES ? (
          <select {...controlProps(name, error)} form={formId}>
            {CHOICES[field as keyof typeof CHOICES].options.map((option) => (
              <option key={option} value={option}>
                {capitalised(optionLabel(option))}
              </option>
            ))}
          </select>
        ) : (
          <input
            {...controlProps(name, error, hint)}
            form={formId}
            inputMode="decimal"
            maxLength={40}
            defaultValue={DISTANCES[field as keyof typeof DISTANCES]?.usual}
          />
        )}
      </Frame>
    );
  }

  return (
    <details
      ref={details}
      className="footprint"
      onToggle={() => details.current?.open && load()}
      onInput={({ target }) => onEdit((target as EventTarget as HTMLInputElement).name)}
      onBlur={onBlur}
    >
      <summary>
        <h2>Estimate your footprint</h2>
        <span className="footprint-optional">Optional: send an estimate along with your message.</span>
      </summary>
      <div className="footprint-body" id={FRAGMENT}>
        <p>
          Enter the yearly amounts you know. They can be your own or those of your organisation; leave the rest empty.
          Nothing leaves this page until you press Submit.
        </p>
        {GROUPS.map(({ legend, note, controls }) => (
          <fieldset key={legend} className="footprint-group" data-columns={controls.length % 3 === 0 ? 3 : 2}>
            <legend>
              {legend} {note && <span className="footprint-note">{note}</span>}
            </legend>
            {controls.map(control)}
            {legend === "Car" && (
              <label className="footprint-unit">
                <input
                  ref={isInMiles}
                  type="checkbox"
                  id="distance-in-miles"
                  name={`${FIELD_PREFIX}carUnit`}
                  value="mi"
                  form={formId}
                />{" "}
                Distance in miles
              </label>
            )}
          </fieldset>
        ))}
        {loaded && reading ? (
          <loaded.Result reading={reading} />
        ) : (
          <p className="footprint-empty">
            {estimator === "failed"
              ? "The estimate cannot be shown just now. Send your message all the same: we compute it from what you entered."
              : "Your estimate is shown after you have sent the message."}
          </p>
        )}
        {form.current && hasAmounts(form.current) && (
          <button type="button" className="button button-outline footprint-remove" onClick={remove}>
            Remove the estimate
          </button>
        )}
        <p className="footprint-limits">
          This is an estimate, not a certificate. It leaves out food, goods and services, the supply chain, waste,
          water, buildings and investments, so most people and companies emit more. Cutting comes before offsetting.
          Neither this estimate nor buying credits makes anyone carbon neutral.{" "}
          <a href={FOOTPRINT_PATH}>How we estimate</a>
        </p>
      </div>
      <p className="visually-hidden" role="status">
        {announced}
      </p>
    </details>
  );
}

function hasAmounts(form: HTMLFormElement): boolean {
  const data = new FormData(form);
  return Object.keys(AMOUNTS).some((field) => String(data.get(FIELD_PREFIX + field) ?? "").trim() !== "");
}

/** What was typed, for a server that computes with it. */
function textsOf(form: HTMLFormElement): object {
  if (!hasAmounts(form)) return {};
  const texts = [...new FormData(form)].filter(([name]) => name.startsWith(FIELD_PREFIX));
  return { footprint: Object.fromEntries(texts.map(([name, text]) => [name.slice(FIELD_PREFIX.length), text])) };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The text once it has not changed for a while. */
function useLater(text: string): string {
  const [later, setLater] = useState("");
  useEffect(() => {
    const timer = setTimeout(setLater, ANNOUNCE_AFTER_MS, text);
    return () => clearTimeout(timer);
  }, [text]);
  return later;
}

import { expect } from "@playwright/test";

/** The visitor's settings in the browser or the system. */
export interface Modes {
  isDark?: boolean;
  isMotionReduced?: boolean;
  isScriptOff?: boolean;
  /** Ignored by WebKitGTK, which does not have this setting. */
  areColoursForced?: boolean;
  isAutoplayBlocked?: boolean;
  /** Scrollbars that take space from the page instead of covering it. */
  areScrollbarsClassic?: boolean;
  /** 2 means text at 200 %. Everything else keeps its size. */
  textScale?: number;
}

/** A browser with one page. Contains everything that differs between engines. */
export interface Driver {
  /** Resolves after the load event. */
  open(url: string): Promise<void>;
  /** `reload` and `back` may resolve before the page has changed. */
  reload(): Promise<void>;
  back(): Promise<void>;
  /** Runs the body of a function in the page, even if the page's own scripts are off. It returns a string. */
  evaluate(code: string): Promise<string>;
  resize(width: number, height: number): Promise<void>;
  /** Presses the pointer at a position in the window. */
  press(x: number, y: number): Promise<void>;
  /** Presses keys by their DOM names, one after another. */
  keys(...names: readonly string[]): Promise<void>;
  /** The errors and warnings that the browser has reported since its start. */
  trouble(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface Engine {
  name: "firefox" | "webkit";
  launch(modes: Modes): Promise<Driver>;
}

/** A page in either engine, so that tests are written once. Elements are identified by CSS selectors. */
export class EnginePage {
  readonly driver: Driver;
  readonly #origin: string;

  constructor(driver: Driver, origin: string) {
    this.driver = driver;
    this.#origin = origin;
  }

  async open(path: string): Promise<void> {
    await this.driver.open(this.#origin + path);
    // Firefox may answer before the new document has elements.
    await this.until(() => document.body !== null);
  }

  /** Resolves once the page has loaded again. */
  async reload(): Promise<void> {
    await this.evaluate(() => document.documentElement.classList.add("before-reload"));
    await this.driver.reload();
    await this.until(() => document.readyState === "complete" && !document.querySelector(".before-reload"));
  }

  /** Runs a function in the page. Arguments and results are copied as JSON; promises are not awaited. */
  async evaluate<Result, Arguments extends unknown[]>(
    run: (...parameters: Arguments) => Result,
    ...parameters: Arguments
  ): Promise<Result> {
    const answer = await this.driver.evaluate(`return JSON.stringify({ result: ${callOf(run, parameters)} })`);
    return (JSON.parse(answer) as { result: Result }).result;
  }

  /** Presses the centre of the element, which must not be covered. */
  async click(selector: string): Promise<void> {
    const [x, y] = await this.evaluate((selector) => {
      const element = document.querySelector(selector);
      if (!element) throw new Error(`There is no ${selector}`);
      element.scrollIntoView({ block: "nearest", behavior: "instant" });
      const { left, top, width, height } = element.getBoundingClientRect();
      const [x, y] = [left + width / 2, top + height / 2];
      const seen = document.elementFromPoint(x, y);
      if (!seen || !(element.contains(seen) || seen.contains(element))) {
        throw new Error(`${selector} is covered by ${seen?.outerHTML.slice(0, 80)}`);
      }
      return [x, y] as const;
    }, selector);
    await this.driver.press(Math.round(x), Math.round(y));
  }

  /** Replaces the field's content, key by key. */
  async type(selector: string, text: string): Promise<void> {
    await this.evaluate((selector) => {
      const field = document.querySelector<HTMLInputElement>(selector);
      field?.focus();
      field?.select();
    }, selector);
    await this.driver.keys("Delete", ...[...text].map((character) => (character === "\n" ? "Enter" : character)));
  }

  /** Waits until the condition is true in the current page. */
  async until<Arguments extends unknown[]>(
    condition: (...parameters: Arguments) => unknown,
    ...parameters: Arguments
  ): Promise<void> {
    const call = callOf(condition, parameters);
    // A page that is being replaced does not answer.
    const holds = () => this.driver.evaluate(`return String(Boolean(${call}))`).catch(String);
    await expect.poll(holds, { message: call, intervals: [20, 50, 100] }).toBe("true");
  }
}

function callOf<Arguments extends unknown[]>(
  run: (...parameters: Arguments) => unknown,
  parameters: Arguments,
): string {
  return `(${run})(...${JSON.stringify(parameters)})`;
}

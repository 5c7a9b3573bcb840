import { expect } from "@playwright/test";

/** What a visitor has set in the browser or in the system. */
export interface Modes {
  isDark?: boolean;
  isMotionReduced?: boolean;
  isScriptOff?: boolean;
  /** Not in WebKitGTK, which knows no such setting. */
  areColoursForced?: boolean;
  isAutoplayBlocked?: boolean;
  /** Scrollbars that take room from the page instead of lying over it. */
  areScrollbarsClassic?: boolean;
  /** 2 is text at 200 %: everything else stays as large as it is. */
  textScale?: number;
}

/** A browser of one engine with one page: what each engine has to do in its own way. */
export interface Driver {
  /** Resolves after the load event. */
  open(url: string): Promise<void>;
  /** Both may resolve before the page has changed. */
  reload(): Promise<void>;
  back(): Promise<void>;
  /** Runs the body of a function in the page, also where the page's own scripts are off. It returns a string. */
  evaluate(code: string): Promise<string>;
  resize(width: number, height: number): Promise<void>;
  /** A press of the pointer at a point of the window. */
  press(x: number, y: number): Promise<void>;
  /** Presses keys by their DOM names, one after the other. */
  keys(names: readonly string[]): Promise<void>;
  print(): Promise<Buffer>;
  /** Errors and warnings that the browser reported, since it was started. */
  trouble(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface Engine {
  name: "firefox" | "webkit";
  launch(modes: Modes): Promise<Driver>;
}

/** A page in either engine, for tests that are written once. Elements are named by CSS selectors. */
export class EnginePage {
  readonly driver: Driver;
  readonly #origin: string;

  constructor(driver: Driver, origin: string) {
    this.driver = driver;
    this.#origin = origin;
  }

  open(path: string): Promise<void> {
    return this.driver.open(this.#origin + path);
  }

  /** Resolves once the page has loaded again. */
  async reload(): Promise<void> {
    await this.evaluate(() => document.documentElement.classList.add("before-reload"));
    await this.driver.reload();
    await this.until(() => document.readyState === "complete" && !document.querySelector(".before-reload"));
  }

  /** Runs a function in the page. What goes in and comes out is copied as JSON; promises are not waited for. */
  async evaluate<Result, Arguments extends unknown[]>(
    run: (...parameters: Arguments) => Result,
    ...parameters: Arguments
  ): Promise<Result> {
    const answer = await this.driver.evaluate(`return JSON.stringify({ result: ${callOf(run, parameters)} })`);
    return (JSON.parse(answer) as { result: Result }).result;
  }

  /** Presses the middle of the element, which must be what is seen there. */
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

  keys(...names: readonly string[]): Promise<void> {
    return this.driver.keys(names);
  }

  /** Replaces what the field holds, key by key. */
  async type(selector: string, text: string): Promise<void> {
    await this.evaluate((selector) => {
      const field = document.querySelector<HTMLInputElement>(selector);
      field?.focus();
      field?.select();
    }, selector);
    await this.keys("Delete", ...[...text].map((character) => (character === "\n" ? "Enter" : character)));
  }

  /** Waits until the expression holds in the page that is shown then. */
  async until<Arguments extends unknown[]>(
    condition: (...parameters: Arguments) => unknown,
    ...parameters: Arguments
  ): Promise<void> {
    const call = callOf(condition, parameters);
    // A page that is just giving way to the next answers nothing.
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

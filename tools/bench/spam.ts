import { existsSync, readFileSync } from "node:fs";
import { startServer } from "../../scripts/run-server.ts";
import { createSpamMemory, isTaughtEnough, wordsOf } from "../../server/store/spam-words.ts";
import type { Lesson } from "../../server/store/store.ts";
import { acceptMessage, openSampleStore } from "../sample-inbox.ts";
import { measureLoad, nextMessage } from "./http-load.ts";
import { type BenchTable, median, ratio } from "./report.ts";
import { withServer } from "./rivals.ts";
import { cpuMsOf } from "./server.ts";
import { SPAM_LANGUAGES, sampleMessages } from "./spam-languages.ts";

const HOW = `The corpus is the SMS Spam Collection of Almeida and Gómez Hidalgo (CC BY 4.0), which is not part of this repository.
Download it from https://archive.ics.uci.edu/dataset/228/sms+spam+collection, unpack it, and run:
npm run bench -- spam --corpus FOLDER/SMSSpamCollection`;
const SHUFFLES = 10;
const LESSONS = [40, 100, 200, 500];

/** Measures how well the spam filter judges after some lessons, in several languages, and what it costs. */
export async function benchSpam(corpus: string): Promise<BenchTable[]> {
  const tables = [languages(), learningCost()];
  if (existsSync(corpus)) tables.push(learning(readCorpus(corpus)));
  else console.log(HOW);
  return [...tables, await cost()];
}

/** The number of spam and good lessons in the other language, beside 40 of each kind in English. */
const OTHER_LESSONS = [
  [7, 0],
  [10, 0],
  [40, 0],
  [40, 1],
  [40, 5],
  [40, 20],
] as const;

function languages(): BenchTable {
  const rows = SPAM_LANGUAGES.map((language) => {
    const cells = OTHER_LESSONS.map(([spam, good]) => {
      const counted = { spam: 0, good: 0 };
      const held = { spam: 0, good: 0 };
      for (let seed = 1; seed <= SHUFFLES; seed += 1) {
        const memory = createSpamMemory();
        const teach = (from: string, kind: Lesson, count: number) => {
          for (const text of shuffle(sampleMessages(from, kind, "lessons"), seed).slice(0, count))
            memory.learn(readTokens(text), kind);
        };
        for (const kind of ["spam", "good"] as const) teach("English", kind, 40);
        if (language !== "English") teach(language, "spam", spam);
        if (language !== "English") teach(language, "good", good);
        for (const kind of ["spam", "good"] as const) {
          const texts = sampleMessages(language, kind, "tests");
          counted[kind] += texts.length;
          held[kind] += texts.filter((text) => memory.looksLikeSpam(readTokens(text))).length;
        }
      }
      const share = (kind: Lesson) => `${((100 * held[kind]) / counted[kind]).toFixed(1)} %`;
      return [`${spam} spam, ${good} good`, `${share("good")} / ${share("spam")}`] as const;
    });
    return { language, ...Object.fromEntries(cells) };
  });
  return {
    title: "Genuine messages / spam that the filter holds, by language",
    rows,
    notes: [
      "Lessons: 40 spam and 40 good messages in English, and in the language as many as the column says (for English, none).",
      `Averages of ${SHUFFLES} orders. The messages to judge have other bodies than the lessons.`,
    ],
  };
}

/** The wait of the first message after a lesson, and of the start, with 4,000 lessons of random words. */
function learningCost(): BenchTable {
  const memory = createSpamMemory();
  const texts = Array.from({ length: 4000 }, () => writeText(170, 1_000_000));
  const timeMs = (work: () => void) => {
    const startMs = performance.now();
    work();
    return (performance.now() - startMs).toFixed(1);
  };
  const learn = (some: readonly string[]) => {
    for (const [index, text] of some.entries()) memory.learn(readTokens(text), index % 2 ? "spam" : "good");
    memory.dropRarest();
  };
  const rows = [
    { step: "4,000 lessons at the start", ms: timeMs(() => learn(texts)), words: memory.known.size },
    { step: "one more lesson", ms: timeMs(() => learn(texts.slice(0, 1))), words: memory.known.size },
    { step: "200 more lessons", ms: timeMs(() => learn(texts.slice(0, 200))), words: memory.known.size },
  ];
  return { title: "What learning costs", rows, notes: ["Without reading the messages from the database."] };
}

interface Sample {
  isSpam: boolean;
  tokens: readonly string[];
}

const readTokens = (message: string) => wordsOf({ message, email: "sender@example.com" });

/** Each line is `ham` or `spam`, a tab, and the text. The corpus contains no addresses. */
function readCorpus(file: string): Sample[] {
  const lines = readFileSync(file, "utf8").matchAll(/^(ham|spam)\t(.+)$/gm);
  return [...lines].map(([, kind, message = ""]) => ({
    isSpam: kind === "spam",
    tokens: readTokens(message),
  }));
}

function learning(samples: readonly Sample[]): BenchTable {
  const rows = [true, false].flatMap((isHalf) =>
    LESSONS.map((lessons) => {
      const runs = Array.from({ length: SHUFFLES }, (_, seed) => judge(shuffle(samples, seed + 1), lessons, isHalf));
      const deciding = runs.filter(({ isDeciding }) => isDeciding);
      const share = (some: typeof runs, part: "caught" | "lost", whole: "spam" | "good") =>
        some.reduce((sum, run) => sum + run[part], 0) / some.reduce((sum, run) => sum + run[whole], 0);
      return {
        "lessons are": isHalf ? "half spam" : "as in the corpus",
        lessons,
        "shuffles that decide": deciding.length,
        "recall, where it decides": share(deciding, "caught", "spam").toFixed(3),
        "recall, all ten": share(runs, "caught", "spam").toFixed(3),
        "good held back": `${(100 * share(runs, "lost", "good")).toFixed(3)} %`,
      };
    }),
  );
  const spam = samples.filter(({ isSpam }) => isSpam).length;
  return {
    title: `What the spam filter learns: ${samples.length} messages, ${spam} of them spam, ${SHUFFLES} shuffles`,
    rows,
    notes: [
      "The filter learns from the first messages of each shuffle and judges all others. Before 20 of each kind it passes all.",
      "The corpus is English text messages and advertising from 2005. It shows that the filter learns and how seldom it errs,",
      "not how much it stops on a contact form, where spam is longer, written for the site, and in any language.",
    ],
  };
}

function judge(samples: readonly Sample[], lessons: number, isHalf: boolean) {
  const memory = createSpamMemory();
  const { taught } = memory;
  const others: Sample[] = [];
  for (const sample of samples) {
    const kind = sample.isSpam ? "spam" : "good";
    const isEnough = isHalf ? taught[kind] >= lessons / 2 : taught.spam + taught.good >= lessons;
    if (isEnough) others.push(sample);
    else memory.learn(sample.tokens, kind);
  }
  const isDeciding = isTaughtEnough(taught);
  const held = others.filter(({ tokens }) => memory.looksLikeSpam(tokens));
  const spam = others.filter(({ isSpam }) => isSpam).length;
  const caught = held.filter(({ isSpam }) => isSpam).length;
  return { isDeciding, caught, spam, lost: held.length - caught, good: others.length - spam };
}

/** The same seed gives the same order. */
function shuffle<T>(items: readonly T[], seed: number): T[] {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  // Skips the first values, which depend too much on the seed.
  for (let skipped = 0; skipped < 20; skipped += 1) next();
  return items
    .map((item) => ({ item, rank: next() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
}

const ROUNDS = 3;
const SECONDS = 3;
const CONNECTIONS = 200;
const TOKENS = 50_000;
/** Word counts that make about 30, 120 and 400 tokens. The last is the longest possible message. */
const SIZES = [11, 55, 800];
const VOCABULARY = 5000;

/** As in natural language, a few words occur in most messages, and most words in a few. */
function writeText(words: number, vocabulary = VOCABULARY): string {
  const word = () =>
    Math.floor(vocabulary ** Math.random())
      .toString(26)
      .replaceAll(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)] ?? "");
  return Array.from({ length: words }, word).join(" ").slice(0, 4900);
}

/**
 * Compares messages accepted per second with the filter off and on, in turns, on the same disk with the same lessons.
 */
async function cost(): Promise<BenchTable> {
  const found: { words: number; filter: "off" | "on"; perSecond: number; cpuMs: number }[] = [];
  const texts = new Map(SIZES.map((words) => [words, Array.from({ length: 2000 }, () => writeText(words))]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const filter of ["off", "on"] as const) {
      const start = async (folder: string) => {
        await teach(folder);
        return startServer({ DATA_DIR: folder, LOG_LEVEL: "error", SPAM_FILTER: filter });
      };
      await withServer(start, async ({ port, process }) => {
        for (const [words, some] of texts) {
          let sent = 0;
          const request = () => nextMessage(some[sent++ % some.length]);
          const load = { port, connections: CONNECTIONS, seconds: SECONDS, request };
          await measureLoad(load);
          const cpuBeforeMs = cpuMsOf(process.pid);
          const { perSecond } = await measureLoad(load);
          found.push({ words, filter, perSecond, cpuMs: (cpuMsOf(process.pid) - cpuBeforeMs) / (perSecond * SECONDS) });
        }
        process.kill("SIGKILL");
      });
    }
  }
  const rows = [...texts].map(([words, some]) => {
    const medianOf = (filter: "off" | "on", value: "perSecond" | "cpuMs") =>
      median(found.filter((one) => one.words === words && one.filter === filter).map((one) => one[value]));
    return {
      message: `${median(some.map((message) => readTokens(message).length))} tokens`,
      "off/s": Math.round(medianOf("off", "perSecond")),
      "on/s": Math.round(medianOf("on", "perSecond")),
      ratio: ratio(medianOf("on", "perSecond"), medianOf("off", "perSecond")),
      "CPU µs off": Math.round(medianOf("off", "cpuMs") * 1000),
      "CPU µs on": Math.round(medianOf("on", "cpuMs") * 1000),
      "ratio by CPU": ratio(medianOf("off", "cpuMs"), medianOf("on", "cpuMs")),
    };
  });
  const title = `What asking the spam filter costs, with ${TOKENS.toLocaleString("en-GB")} tokens learned`;
  const notes = [
    `Messages accepted at ${CONNECTIONS} connections, on SQLite; medians of ${ROUNDS} rounds in turns.`,
    "By CPU: messages for the same processor time, which depends less on other load on the machine.",
  ];
  return { title, rows, notes };
}

/** Teaches messages, half of them as spam, until the filter knows TOKENS tokens. */
async function teach(folder: string): Promise<void> {
  const store = await openSampleStore(folder);
  const known = new Set<string>();
  const references: string[] = [];
  while (known.size < TOKENS) {
    const message = writeText(170);
    for (const token of readTokens(message)) known.add(token);
    const sender = { name: "A", email: `${references.length}@example.com`, phone: "1", country: "" };
    const accepted = await acceptMessage(store, { ...sender, message });
    if ("reference" in accepted) references.push(accepted.reference);
  }
  const half = references.length / 2;
  await store.messages.act("spam", { references: references.slice(0, half) }, new Date());
  await store.messages.act("answer", { references: references.slice(half) }, new Date());
  await store.close();
}

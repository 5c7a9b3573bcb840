/** A sentence that may stay although a rule finds it, because somebody looked into it and decided so. */
export interface ClaimException {
  /** The hash that the report prints with the finding; any change to the sentence changes it. */
  sentence: string;
  /** The number of the rule. */
  rule: number;
  reason: string;
  /** A web address, or the name of a document, where the claim is proved. */
  evidence: string;
  decidedBy: string;
  /** The last day on which it holds, e.g. 2027-03-31. */
  until: string;
}

const TEXT_FIELDS = ["sentence", "reason", "evidence", "decidedBy", "until"] as const;

/** Reads `app/claims-exceptions.json`; `problems` has one sentence for each thing that is wrong with it. */
export function parseExceptions(json: string): { exceptions: ClaimException[]; problems: string[] } {
  const list = parseList(json);
  if (!list) return { exceptions: [], problems: ["it is not a JSON list; e.g. []"] };
  const problems = list.flatMap((entry, index) =>
    problemsWith(entry).map((problem) => `entry ${index + 1}: ${problem}`),
  );
  return { exceptions: problems.length > 0 ? [] : (list as ClaimException[]), problems };
}

function parseList(json: string): unknown[] | null {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function problemsWith(entry: unknown): string[] {
  const fields = Object(entry) as Record<string, unknown>;
  const problems: string[] = [];
  for (const name of TEXT_FIELDS) {
    const value = fields[name];
    if (typeof value !== "string" || value.trim() === "") problems.push(`"${name}" is missing or empty`);
  }
  const { rule, sentence, until } = fields;
  if (typeof rule !== "number" || !(rule >= 1 && rule <= 7))
    problems.push(`"rule" is not the number of a rule, 1 to 7`);
  if (typeof sentence === "string" && !/^[\da-f]{16}$/.test(sentence)) {
    problems.push(`"sentence" is not a hash as npm run claims prints it`);
  }
  if (typeof until === "string" && !isDay(until)) problems.push(`"until" is not a day; e.g. 2027-03-31`);
  return problems;
}

function isDay(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\d$/.test(text) && new Date(text).toString() !== "Invalid Date" && toDay(new Date(text)) === text
  );
}

export function toDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}

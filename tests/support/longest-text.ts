/** Functions that take a text apart, with their owners. A regular expression calls `exec` in every method. */
const READERS: readonly (readonly [owner: object, names: readonly string[]])[] = [
  [RegExp.prototype, ["exec"]],
  [String.prototype, ["normalize", "toLowerCase", "toUpperCase", "trim", "split", "replaceAll", "replace", "match"]],
  [URL, ["canParse"]],
  [TextEncoder.prototype, ["encode"]],
];

/** The length of the longest text with this mark that a function reads while `work` runs. */
export async function longestText(mark: string, work: () => unknown): Promise<number> {
  let longest = 0;
  const restores = READERS.flatMap(([owner, names]) =>
    names.map((name) => {
      const reader = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
      Reflect.set(owner, name, function (this: unknown, ...args: unknown[]) {
        for (const value of [this, args[0]]) {
          const text = typeof value === "string" || value instanceof String ? value : "";
          if (text.length > longest && text.includes(mark)) longest = text.length;
        }
        return reader.apply(this, args);
      });
      return () => Reflect.set(owner, name, reader);
    }),
  );
  try {
    await work();
  } finally {
    for (const restore of restores) restore();
  }
  return longest;
}

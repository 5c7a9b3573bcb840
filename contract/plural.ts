/** `1 message`, `2 messages`, `3 countries`. */
export function plural(count: number, noun: string, format: (count: number) => string = String): string {
  const several = noun.endsWith("ry") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${format(count)} ${count === 1 ? noun : several}`;
}

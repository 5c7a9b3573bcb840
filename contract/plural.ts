/** `1 message`, `2 messages`, `3 countries`, `4 replies`, `5 addresses`. */
export function plural(count: number, noun: string, format: (count: number) => string = String): string {
  const several = `${noun.replace(/([^aeiou])y$/, "$1ie").replace(/s$/, "se")}s`;
  return `${format(count)} ${count === 1 ? noun : several}`;
}

/** The seven screens, by a path that shows each. */
export const SCREENS: readonly (readonly [name: string, path: string])[] = [
  ["home", "/"],
  ["contact", "/contact"],
  ["privacy", "/privacy"],
  ["terms", "/terms"],
  ["cancellation", "/cancellation"],
  ["delivery", "/delivery"],
  ["Coming Soon", "/404.html"],
];

/** What the work gives, or a rejection once the time is up; the work itself goes on. */
export async function withinMs<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(new Error(`took more than ${limitMs} ms`)), limitMs);
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Calls `call` once for each key. A failed call is made again. */
export function callOnce<Args extends readonly unknown[], T>(
  call: (...args: Args) => Promise<T>,
  keyOf: (...args: Args) => string,
): (...args: Args) => Promise<T> {
  const results = new Map<string, T>();
  return async (...args) => {
    const key = keyOf(...args);
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = await call(...args);
    results.set(key, result);
    return result;
  };
}

/**
 * The results of two operations that were begun together, in this order. Of two failures the first one's is thrown,
 * whichever comes earlier.
 */
export async function inOrder<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  // Awaited below, unless the first fails.
  second.catch(() => undefined);
  return [await first, await second];
}

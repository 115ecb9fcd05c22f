/** A time, in milliseconds since the epoch, as Kubernetes' MicroTime wants it: with six digits after the second. */
export function microTime(atMs: number): string {
  return new Date(atMs).toISOString().replace('Z', '000Z');
}

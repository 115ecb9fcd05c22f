/** Formats a time, in milliseconds since the epoch, as Kubernetes' MicroTime: with six decimal digits. */
export function microTime(atMs: number): string {
  return new Date(atMs).toISOString().replace('Z', '000Z');
}

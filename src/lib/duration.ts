const durationPattern = /^(?:[0-9]+[hms])+$/;
const partPattern = /([0-9]+)([hms])/g;
const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000 };
const maxLength = 32;

/** Milliseconds of a duration such as `1h30m` or `90s`; undefined for any other text. */
export function parseDurationMs(text: string): number | undefined {
  if (text.length > maxLength || !durationPattern.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(partPattern)) totalMs += Number(amount) * (unitMs[unit] ?? 0);
  return Number.isSafeInteger(totalMs) ? totalMs : undefined;
}

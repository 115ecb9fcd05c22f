const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** How large the body of a request may be. */
export interface BodyLimits {
  readonly maxBytes: number;
  /** Members of objects and elements of arrays, together. */
  readonly maxEntries: number;
  /** What a client with a larger body can do. */
  readonly advice: string;
}

/** The limits of docs/interface.md section 8. A route without its own has `usual`, and so does each public route. */
export const bodyLimits = {
  usual: { maxBytes: 64 * kibibyte, maxEntries: 1_000, advice: 'no valid request of this route is larger' },
  /** Two lists of 256 globs of 253 characters. */
  keySelection: { maxBytes: 256 * kibibyte, maxEntries: 1_000, advice: 'select the keys with fewer globs' },
  /** One value. A byte of it may be six in JSON. */
  value: { maxBytes: 2 * mebibyte, maxEntries: 1_000, advice: 'a value has at most 256 KiB' },
  /** A change of many secrets. */
  values: { maxBytes: 8 * mebibyte, maxEntries: 60_100, advice: 'send the change in parts' },
} as const satisfies Record<string, BodyLimits>;

/** Such as `64 KiB` and `8 MiB`. */
export function sizeText(bytes: number): string {
  return bytes < mebibyte ? `${bytes / kibibyte} KiB` : `${bytes / mebibyte} MiB`;
}

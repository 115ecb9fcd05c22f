/** What is wrong with a field of a request, as a sentence. */
export interface InvalidField {
  /** A path with dots, such as `federation.claims.sub`. */
  readonly field: string;
  readonly message: string;
}

/** What is wrong with a field; null if nothing is. */
export function faultOf(invalid: readonly InvalidField[], field: string): string | null {
  return invalid.find((one) => one.field === field)?.message ?? null;
}

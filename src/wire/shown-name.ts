const namePattern = /^[A-Za-z0-9._-]{1,253}$/;

/**
 * A name from a request as it may be repeated in an answer: one that looks like a field's or a secret key's name.
 * Anything else may be a value in the wrong place.
 */
export function shownName(name: string): string {
  return namePattern.test(name) ? name : '(unprintable name)';
}

const namePattern = /^[A-Za-z0-9._-]{1,253}$/;

/**
 * A name of a request, in a form that a response may contain: only text that can be the name of a field or a secret key.
 * Other text may be a misplaced value.
 */
export function shownName(name: string): string {
  return namePattern.test(name) ? name : '(unprintable name)';
}

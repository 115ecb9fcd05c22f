const printableAscii = /^[\x20-\x7E]*$/;

/**
 * Whether a text has nothing but printable ASCII characters. Most texts pass, and need no expression with \p{…}. V8 builds
 * the sets of such an expression when it reads the literal, even in a function that is never called. That takes a
 * twentieth of a short command, so the callers construct theirs with `new RegExp` when they need it.
 */
export function isPrintableAscii(text: string): boolean {
  return printableAscii.test(text);
}

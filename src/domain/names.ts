import { limits } from './limits.ts';

/**
 * Checks of the names and texts people choose (docs/interface.md section 2). Each answers `undefined` when the text
 * is right, else a sentence that says what is allowed; it never repeats the text, which may be a misplaced secret.
 */

/** Slugs of organizations, projects and environments. */
export const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** E-mail addresses of users: all of ASCII that is printed, so that two that look alike are alike. */
export const emailPattern = /^[!-?A-~]{1,64}@[!-?A-~]{1,189}$/;
const secretKeyPattern = /^[A-Za-z0-9._-]{1,253}$/;
const secretKeyCharacters = `1 to ${limits.secretKeyLength} letters, digits, dots, underscores and hyphens`;
// A name or comment is one line for people: no control characters (a NUL PostgreSQL cannot hold, the others hide text).
const controlCharacters = /\p{Cc}/u;

/** What is wrong with a slug of an organization, project or environment. */
export function validateSlug(text: string): string | undefined {
  return slugPattern.test(text)
    ? undefined
    : `must be 1 to ${limits.slugLength} lower-case letters, digits and hyphens, beginning and ending with a letter or digit`;
}

/**
 * What is wrong with a secret's key. Kubernetes and URLs refuse `.` and names that begin with `..`; `__proto__` is
 * lost in JavaScript objects.
 */
export function validateSecretKey(text: string): string | undefined {
  if (!secretKeyPattern.test(text)) {
    return `must be ${secretKeyCharacters}`;
  }
  if (text === '.' || text === '__proto__' || text.startsWith('..')) {
    return 'must not be "." or "__proto__", nor begin with ".."';
  }
  return undefined;
}

/** What is wrong with the beginning of a key that a list is limited to. */
export function validateSecretKeyPrefix(text: string): string | undefined {
  return secretKeyPattern.test(text) ? undefined : `must be ${secretKeyCharacters}`;
}

/** What is wrong with a secret's value: it is 0 to 256 KiB of valid Unicode. */
export function validateSecretValue(text: string): string | undefined {
  if (!text.isWellFormed()) {
    return 'must be valid Unicode (it holds a lone surrogate); encode binary data as base64';
  }
  return utf8Bytes(text) > limits.valueBytes ? `must be at most ${limits.valueBytes} bytes of UTF-8` : undefined;
}

/** What is wrong with a display name or the name of a token or snapshot. */
export function validateName(text: string): string | undefined {
  if (text.trim() === '') return 'must not be empty';
  return validateLine(text, limits.nameLength);
}

/**
 * What is wrong with a user's e-mail address: it has something on both sides of one @, of printable ASCII without
 * spaces. Whether mail reaches it nobody knows; it is a name.
 */
export function validateEmail(text: string): string | undefined {
  return emailPattern.test(text)
    ? undefined
    : 'must be an e-mail address of at most 254 printable ASCII characters, such as ada@example.com';
}

/** What is wrong with a comment or description. */
export function validateComment(text: string): string | undefined {
  return validateLine(text, limits.commentLength);
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

function validateLine(text: string, maxLength: number): string | undefined {
  // Characters are counted as JSON Schema and PostgreSQL count them; first what is quick to tell of a very long text.
  if (text.length > 2 * maxLength || Array.from(text).length > maxLength)
    return `must be at most ${maxLength} characters`;
  if (controlCharacters.test(text)) return 'must not hold control characters';
  return text.isWellFormed() ? undefined : 'must be valid Unicode (it holds a lone surrogate)';
}

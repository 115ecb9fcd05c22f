import { limits } from './limits.ts';

/**
 * Checks of names and texts that users choose (docs/interface.md section 2). Each returns undefined if the text is valid,
 * else a validation message that says what is allowed. It never quotes the text, which may be a misplaced secret.
 */

/** Slugs of organizations, projects and environments. */
export const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/**
 * E-mail addresses of users: printable ASCII only, so that two addresses that look equal are equal. None begins with what
 * names a group (`group:platform`).
 */
export const emailPattern = /^(?![Gg][Rr][Oo][Uu][Pp]:)[!-?A-~]{1,64}@[!-?A-~]{1,189}$/;
/** Ids, as the database writes them. */
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Names of clusters (KEYFRAME_CLUSTER_NAME). */
export const clusterNamePattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/;
const secretKeyPattern = /^[A-Za-z0-9._-]{1,253}$/;
const secretKeyCharacters = `1 to ${limits.secretKeyLength} letters, digits, dots, underscores and hyphens`;
// A name or comment is one line without control characters: PostgreSQL cannot store NUL, and the others can hide text.
const controlCharacters = /\p{Cc}/u;

/** Checks a slug of an organization, project or environment. */
export function validateSlug(text: string): string | undefined {
  return slugPattern.test(text)
    ? undefined
    : `must be 1 to ${limits.slugLength} lower-case letters, digits and hyphens, beginning and ending with a letter or digit`;
}

/**
 * Checks the key of a secret. Kubernetes and URLs refuse `.` and names that begin with `..`. JavaScript objects lose a
 * key named `__proto__`.
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

/** Checks the key prefix of a list. */
export function validateSecretKeyPrefix(text: string): string | undefined {
  return secretKeyPattern.test(text) ? undefined : `must be ${secretKeyCharacters}`;
}

/** Checks the value of a secret: 0 to 256 KiB of valid Unicode. */
export function validateSecretValue(text: string): string | undefined {
  if (!text.isWellFormed()) {
    return 'must be valid Unicode (it contains a lone surrogate); encode binary data as base64';
  }
  return utf8Bytes(text) > limits.valueBytes ? `must be at most ${limits.valueBytes} bytes of UTF-8` : undefined;
}

/** Checks a display name, or the name of a token or snapshot. */
export function validateName(text: string): string | undefined {
  if (text.trim() === '') return 'must not be empty';
  return validateLine(text, limits.nameLength);
}

/** Checks the name of a cluster: the one that its controllers are given, or the uid of its namespace kube-system. */
export function validateClusterName(text: string): string | undefined {
  return clusterNamePattern.test(text)
    ? undefined
    : 'must be 1 to 128 letters, digits, dots, hyphens and underscores, ending with a letter or digit';
}

/**
 * Checks the e-mail address of a user: printable ASCII without spaces, with one @ that has text on both sides, that is not
 * read as a group. The server sends no mail, so the address only has to be a unique name.
 */
export function validateEmail(text: string): string | undefined {
  return emailPattern.test(text)
    ? undefined
    : 'must be an e-mail address of at most 254 printable ASCII characters, such as ada@example.com, and not begin with group:';
}

/** Checks a comment or description. */
export function validateComment(text: string): string | undefined {
  return validateLine(text, limits.commentLength);
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

function validateLine(text: string, maxLength: number): string | undefined {
  if (!isAtMost(text, maxLength)) return `must be at most ${maxLength} characters`;
  return validateCharacters(text);
}

/** Whether a text has at most so many characters, counted as JSON Schema and PostgreSQL do. Fast for very long texts. */
export function isAtMost(text: string, maxLength: number): boolean {
  return text.length <= 2 * maxLength && Array.from(text).length <= maxLength;
}

/** Checks that no character of a text is invisible or half. */
export function validateCharacters(text: string): string | undefined {
  if (controlCharacters.test(text)) return 'must not contain control characters';
  return text.isWellFormed() ? undefined : 'must be valid Unicode (it contains a lone surrogate)';
}

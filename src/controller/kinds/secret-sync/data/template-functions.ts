/** The functions of templates, on values that are already text or bytes. All are pure and take linear time. */

export const textFunctions: Readonly<Record<'json' | 'quote' | 'trim', (text: string) => string>> = {
  json: (text) => JSON.stringify(text),
  // One word of a POSIX shell (2.2.2 Single-Quotes): every character is literal.
  quote: (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`,
  trim: (text) => text.trim(),
};

// RFC 3986 section 2.3: the characters that mean the same in each part of a URI, encoded or not.
const reserved = /[^-._~A-Za-z0-9]/g;

/** Percent-encodes every byte except the unreserved characters of RFC 3986. A blank becomes `%20`, not `+`. */
export function urlEncoded(bytes: Buffer): string {
  // Latin-1 has one character for each byte.
  return bytes.toString('latin1').replaceAll(reserved, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

/** The length of `urlEncoded`, without composing it. */
export function urlEncodedLength(bytes: Buffer): number {
  return bytes.reduce((total, byte) => total + (isUnreserved[byte] === true ? 1 : 3), 0);
}

const isUnreserved = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte).search(reserved) === -1);

/** What a text says about one field. */
export type JsonField =
  | { readonly kind: 'text'; readonly text: string }
  /** The object does not have the field, or has null there. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'not an object' };

/**
 * A field of a JSON object. A string becomes its text; any other value is the part of the JSON text that it stands in, so
 * that no digit of a number is lost. If the object has the field twice, the last one counts. Fields of fields are not
 * searched.
 */
export function jsonField(json: string, field: string): JsonField {
  const parsed = parseObject(json);
  if (parsed === undefined) return { kind: 'not an object' };
  const value: unknown = Object.hasOwn(parsed, field) ? parsed[field] : undefined;
  if (value === undefined || value === null) return { kind: 'missing' };
  return { kind: 'text', text: typeof value === 'string' ? value : sourceOf(json, field) };
}

function parseObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(json);
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return isObject ? (parsed as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    // The parser's error quotes the text and must not be passed on.
    return undefined;
  }
}

// Strings, and what gives a JSON text its structure. White space, numbers and words have no mark in them.
const marks = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g;
const depthChanges: Readonly<Record<string, number>> = { '{': 1, '[': 1, '}': -1, ']': -1 };

/** The text of a field's value in a valid JSON object that has the field. Nothing is recursive: the text may be nested deeply. */
function sourceOf(json: string, field: string): string {
  let [name, begin, source] = ['', -1, ''];
  for (const { mark, index } of outerMarks(json)) {
    if (mark === ':') begin = index + 1;
    else if (mark === ',' || mark === '}') {
      if (name === field) source = json.slice(begin, index).trim();
      begin = -1;
    } else if (begin === -1) name = JSON.parse(mark) as string;
  }
  return source;
}

/** The marks of a JSON object that belong to no value in it. */
function* outerMarks(json: string): Generator<{ readonly mark: string; readonly index: number }> {
  let depth = 0;
  for (const { 0: mark, index } of json.matchAll(marks)) {
    if (depth === 1) yield { mark, index };
    depth += depthChanges[mark] ?? 0;
  }
}

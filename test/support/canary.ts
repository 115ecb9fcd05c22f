import { randomInt } from 'node:crypto';

/** A form of the canary that was found. */
export interface CanaryTrace {
  /** Such as `plain` or `base64, offset 2`. */
  readonly encoding: string;
  /** Where in the searched bytes. */
  readonly offset: number;
}

interface Needle {
  readonly encoding: string;
  readonly bytes: Buffer;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const partLength = 16;

/**
 * A secret value that occurs nowhere by chance, and the search for it in whatever form it may have leaked.
 *
 * It begins and ends with 16 random letters and digits, and either part is searched for, so that a value that was cut
 * short is found too. Letters and digits look the same plain, in JSON and in a URL; between them stand characters that
 * do not, so that what handles the value has to escape it.
 */
export class Canary {
  readonly value: string;
  readonly #needles: readonly Needle[];

  /** A new one; or one that stands for a secret that is there anyway, such as a token, whose last 32 characters are random. */
  constructor(secret?: string) {
    const parts =
      secret === undefined
        ? [randomText(), randomText()]
        : [secret.slice(-2 * partLength, -partLength), secret.slice(-partLength)];
    this.value = secret ?? parts.join('"\\/ é~?>&%+=\t');
    this.#needles = parts.flatMap((part) => needlesOf(part));
  }

  /** The forms of it that these bytes hold, each once. */
  traces(bytes: Uint8Array): CanaryTrace[] {
    const haystack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const found = new Map<string, CanaryTrace>();
    for (const { encoding, bytes: needle } of this.#needles) {
      const offset = haystack.indexOf(needle);
      if (offset !== -1 && !found.has(encoding)) found.set(encoding, { encoding, offset });
    }
    return [...found.values()];
  }
}

function randomText(): string {
  return Array.from({ length: partLength }, () => alphabet[randomInt(alphabet.length)]).join('');
}

function needlesOf(text: string): Needle[] {
  const bytes = Buffer.from(text);
  return [
    ...formsOf(bytes),
    // A Secret inside an annotation, or in a kubeconfig inside a Secret, is encoded twice.
    ...base64Forms(bytes).flatMap(({ encoding, bytes: once }) =>
      base64Forms(once).map((twice) => ({ ...twice, encoding: `${encoding}, then ${twice.encoding}` })),
    ),
  ];
}

function formsOf(bytes: Buffer): Needle[] {
  const codes = [...bytes];
  const each = (form: (code: number) => string, separator = ''): Buffer => Buffer.from(codes.map(form).join(separator));
  const hex = (code: number): string => code.toString(16).padStart(2, '0');
  return [
    { encoding: 'plain', bytes },
    ...base64Forms(bytes),
    { encoding: 'hex', bytes: each(hex) },
    { encoding: 'hex', bytes: Buffer.from(bytes.toString('hex').toUpperCase()) },
    { encoding: 'hex with spaces', bytes: each(hex, ' ') },
    { encoding: 'every byte URL-encoded', bytes: each((code) => `%${hex(code)}`) },
    { encoding: 'every byte URL-encoded', bytes: each((code) => `%${hex(code).toUpperCase()}`) },
    { encoding: 'every character JSON-escaped', bytes: each((code) => `\\u00${hex(code)}`) },
    { encoding: 'every character JSON-escaped', bytes: each((code) => `\\u00${hex(code).toUpperCase()}`) },
    // How JSON.stringify shows a Buffer, compact and indented by a pretty-printer.
    { encoding: 'byte numbers', bytes: each(String, ',') },
    { encoding: 'byte numbers', bytes: each(String, ', ') },
    { encoding: 'UTF-16', bytes: Buffer.from(bytes.toString('latin1'), 'utf16le') },
  ];
}

/**
 * How bytes look inside longer base64, which depends on how many bytes stand before them. The characters that
 * neighbours have a part in are left off. Letters, digits and base64 of them give no character in which base64 and
 * base64url differ, so each of these finds both.
 */
function base64Forms(bytes: Buffer): Needle[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor(((before + bytes.length) * 8) / 6);
    return { encoding: `base64, offset ${before}`, bytes: Buffer.from(encoded.slice(first, last)) };
  });
}

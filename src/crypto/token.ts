import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Plaintext } from '../domain/plaintext.ts';
import { decodeBase62, encodeBase62 } from './base62.ts';
import { uuidBytes, uuidText } from './uuid.ts';

export type TokenKind = 'service_token' | 'personal_token' | 'session' | 'sign_in_link' | 'cluster';

/** A new token, which is shown once, and its hash, which is stored. */
export interface GeneratedToken {
  readonly token: Plaintext;
  /** SHA-256 of the whole token, 32 bytes. It requires no salt or stretching: 256 random bits cannot be guessed. */
  readonly hash: Buffer<ArrayBuffer>;
}

export interface ParsedToken {
  readonly kind: TokenKind;
  readonly credentialId: string;
  readonly hash: Buffer<ArrayBuffer>;
}

const prefixes: Readonly<Record<TokenKind, string>> = {
  service_token: 'kf_svc_',
  personal_token: 'kf_pat_',
  session: 'kf_ses_',
  sign_in_link: 'kf_lnk_',
  cluster: 'kf_cls_',
};
const tokenKinds: readonly TokenKind[] = ['service_token', 'personal_token', 'session', 'sign_in_link', 'cluster'];
// Base62 characters for 128, 256 and 32 bits.
const idLength = 22;
const secretLength = 43;
const checksumLength = 6;
// Of SHA-256.
const hashBytes = 32;
const bodyPattern = new RegExp(`^[0-9A-Za-z]{${idLength + secretLength + checksumLength}}$`);
const idLimit = 2n ** 128n;

/**
 * A new token (docs/interface.md section 5): prefix, UUID of the credential (22 base62 characters), 256 random bits (43),
 * and a CRC-32 of the preceding text (6), which shows whether a token is mistyped or cut.
 */
export function generateToken(kind: TokenKind, credentialId: string): GeneratedToken {
  const id = encodeBase62(uuidBytes(credentialId), idLength);
  const unsigned = prefixes[kind] + id + encodeBase62(randomBytes(32), secretLength);
  const text = unsigned + checksum(unsigned);
  return { token: new Plaintext(text), hash: sha256(text) };
}

/** The hash of a credential without a value: no text has it, so nothing but a JWT presents the credential. */
export function valuelessHash(): Buffer<ArrayBuffer> {
  return randomBytes(hashBytes);
}

/** Parses a token; undefined if the text is not a token or its checksum is wrong. */
export function parseToken(text: string): ParsedToken | undefined {
  const kind = kindOf(text);
  if (kind === undefined) return undefined;
  const body = text.slice(prefixes[kind].length);
  if (!bodyPattern.test(body) || checksum(text.slice(0, -checksumLength)) !== text.slice(-checksumLength))
    return undefined;
  const id = decodeBase62(body.slice(0, idLength));
  if (id >= idLimit) return undefined;
  return { kind, credentialId: uuidText(id.toString(16).padStart(32, '0')), hash: sha256(text) };
}

/** Compares two hashes in constant time. */
export function hashesEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function kindOf(text: string): TokenKind | undefined {
  return tokenKinds.find((kind) => text.startsWith(prefixes[kind]));
}

function checksum(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return encodeBase62(bytes, checksumLength);
}

/** The SHA-256 of a text, 32 bytes. */
export function sha256(text: string): Buffer<ArrayBuffer> {
  return createHash('sha256').update(text).digest();
}

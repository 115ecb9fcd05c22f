import { createPublicKey, type KeyObject } from 'node:crypto';
import type { IssuerAlgorithm } from '../domain/trusted-issuers.ts';
import { limits } from '../domain/limits.ts';
import { isObject } from '../lib/is-object.ts';

/** The public part of a key that verifies JWTs (RFC 7517). */
export type PublicKey = Readonly<{ alg: IssuerAlgorithm; kid?: string }> &
  Readonly<
    | { kty: 'RSA'; n: string; e: string }
    | { kty: 'EC'; crv: 'P-256'; x: string; y: string }
    | { kty: 'OKP'; crv: 'Ed25519'; x: string }
  >;

/** Why a key of a set verifies nothing here. */
export type KeyFault = 'other_use' | 'other_algorithm' | 'weak' | 'malformed';

/** What a JSON Web Key Set holds. */
export interface ReadKeySet {
  readonly keys: readonly PublicKey[];
  /** The other keys, by their position. A published set may have them; they count for nothing. */
  readonly unusable: readonly { readonly position: number; readonly fault: KeyFault }[];
}

const minModulusBits = 2048;
const maxModulusBits = 8192;
const minExponent = 65_537;
const maxKeyIdLength = 256;

type Members = Readonly<Record<string, unknown>>;

/** Reads a JSON Web Key Set. Private parts of keys are left out. Undefined for what is none, or has too many keys. */
export function readKeySet(value: unknown): ReadKeySet | undefined {
  const given = isObject(value) ? value['keys'] : undefined;
  if (!Array.isArray(given)) return undefined;
  const read = given.map(publicKeyOf);
  const keys = read.filter((key) => typeof key !== 'string');
  const unusable = read.flatMap((fault, position) => (typeof fault === 'string' ? [{ position, fault }] : []));
  return keys.length > limits.keysPerIssuer ? undefined : { keys, unusable };
}

/** The members of a key (RFC 7518) that only its holder may know: those of a private key, and a symmetric key. */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/** Whether a key that was given is private or symmetric. */
export function isSecretKey(value: unknown): boolean {
  return isObject(value) && (value['kty'] === 'oct' || secretMembers.some((name) => Object.hasOwn(value, name)));
}

/** Undefined for what is no key: neither a point of its curve nor a modulus. */
export function parseKey({ kid: _kid, alg: _alg, ...key }: PublicKey): KeyObject | undefined {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/** Whether a public key is one. */
export function isValidKey(key: PublicKey): boolean {
  return parseKey(key) !== undefined;
}

function publicKeyOf(value: unknown): PublicKey | KeyFault {
  if (!isObject(value)) return 'malformed';
  if (!isForSignatures(value)) return 'other_use';
  const { kid } = value;
  const key = materialOf(value);
  if (typeof key === 'string') return key;
  if (!isAlgorithm(value['alg'], key)) return 'other_algorithm';
  if (kid === undefined) return key;
  return isKeyId(kid) ? { ...key, kid } : 'malformed';
}

/** RFC 9864 names the algorithm of Ed25519 as well. */
function isAlgorithm(alg: unknown, key: PublicKey): boolean {
  return alg === undefined || alg === key.alg || (alg === 'Ed25519' && key.kty === 'OKP');
}

function isKeyId(kid: unknown): kid is string {
  return typeof kid === 'string' && kid !== '' && kid.length <= maxKeyIdLength;
}

function isForSignatures({ use = 'sig', key_ops: operations = ['verify'] }: Members): boolean {
  return use === 'sig' && Array.isArray(operations) && operations.includes('verify');
}

function materialOf(members: Members): PublicKey | KeyFault {
  const { kty, crv, x, y } = members;
  if (kty === 'RSA') return rsaKeyOf(members);
  if (kty === 'EC' && crv === 'P-256') {
    return isCoordinate(x) && isCoordinate(y) ? { kty, alg: 'ES256', crv, x, y } : 'malformed';
  }
  if (kty === 'OKP' && crv === 'Ed25519') return isCoordinate(x) ? { kty, alg: 'EdDSA', crv, x } : 'malformed';
  return 'other_algorithm';
}

function rsaKeyOf({ n, e }: Members): PublicKey | KeyFault {
  if (!isBase64url(n) || !isBase64url(e)) return 'malformed';
  const isStrong = isModulus(Buffer.from(n, 'base64url')) && isExponent(Buffer.from(e, 'base64url'));
  return isStrong ? { kty: 'RSA', alg: 'RS256', n, e } : 'weak';
}

function isModulus(bytes: Buffer): boolean {
  const bits = BigInt(`0x0${bytes.toString('hex')}`).toString(2).length;
  return bits >= minModulusBits && bits <= maxModulusBits;
}

/** With exponent 1, any text would be a signature. */
function isExponent(bytes: Buffer): boolean {
  const exponent = bytes.length <= 4 ? Number(`0x0${bytes.toString('hex')}`) : 0;
  return exponent >= minExponent && exponent % 2 === 1;
}

/** 32 bytes. */
function isCoordinate(value: unknown): value is string {
  return isBase64url(value) && Buffer.from(value, 'base64url').length === 32;
}

function isBase64url(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]+$/.test(value);
}

import { type KeyObject, verify } from 'node:crypto';
import type { JwtFault } from '../domain/jwt-faults.ts';
import { type IssuerAlgorithm, issuerAlgorithms } from '../domain/trusted-issuers.ts';
import { JsonFault, JsonObject, type JsonValue, readJson } from '../lib/strict-json.ts';

/** A JWT that proves nothing. Has no part of it. */
export class JwtError extends Error {
  readonly fault: JwtFault;

  constructor(fault: JwtFault) {
    super(`the JWT is refused: ${fault}`);
    this.name = 'JwtError';
    this.fault = fault;
  }
}

/** A JWT that was read. Anyone can have written it. */
export interface UnverifiedJwt {
  /** What the signature is of: its first two parts. */
  readonly signed: string;
  readonly signature: Buffer;
  readonly algorithm: IssuerAlgorithm;
  /** Undefined without one. */
  readonly keyId: string | undefined;
  /** Its only audience. */
  readonly audience: string;
  readonly claims: ReadonlyMap<string, JsonValue>;
}

/** What a JWT must be, by its issuer and the service token. */
export interface ExpectedJwt {
  readonly iss: string;
  /** Longest time between `iat` and `exp`. */
  readonly maxAgeSeconds: number;
  /** The values that each claim may have; every claim must have one of its values. */
  readonly claims: Readonly<Record<string, readonly string[]>>;
  /** The time by the clock of the database. */
  readonly now: Date;
}

/** When a JWT ends. */
export interface JwtEnd {
  /** By its claims. */
  readonly expiresAt: Date;
  /** A little later, because clocks differ. */
  readonly acceptedUntil: Date;
}

const maxLength = 8 * 1024;
const maxKeyIdLength = 256;
// A JWT of an issuer has three or four.
const maxDepth = 8;
// By RFC 8725 a JWT of another kind, such as a logout token, must not pass as one that proves its bearer.
const types: ReadonlySet<string> = new Set(['jwt', 'at+jwt']);
// They name keys in the JWT itself, or change what must be checked.
const refusedParameters = ['jku', 'x5u', 'jwk', 'crit'] as const;
/** How far the clocks of issuer and database may differ. */
const leewaySeconds = 60;
const maxTimeSeconds = 253_402_300_799;

/** Whether a bearer token is presented as a JWT: tokens with a value have no dot. */
export function isJwt(bearer: string): boolean {
  return bearer.includes('.');
}

/**
 * Reads a JWT (RFC 7519) in its compact form, signed and not encrypted.
 *
 * @param isAudience whether an audience is one of Keyframe
 * @throws JwtError
 */
export function readJwt(text: string, isAudience: (audience: string) => boolean): UnverifiedJwt {
  if (text.length > maxLength) throw new JwtError('jwt_too_large');
  const parts = text.split('.');
  const [header, claims, signature] = parts;
  if (header === undefined || claims === undefined || signature === undefined || parts.length !== 3) {
    throw new JwtError('jwt_malformed');
  }
  const proof = { signed: `${header}.${claims}`, signature: bytesOf(signature) };
  const read = { ...proof, ...headerOf(objectOf(header)), claims: objectOf(claims) };
  return { ...read, audience: audienceOf(read.claims.get('aud'), isAudience) };
}

/**
 * Checks the signature of a JWT with a key of its algorithm.
 *
 * @throws JwtError jwt_signature
 */
export function verifySignature({ algorithm, signed, signature }: UnverifiedJwt, key: KeyObject): void {
  // It takes less time than to have another thread do it (docs/adr/0036-federated-service-tokens.md).
  if (!verifiers[algorithm](Buffer.from(signed), key, signature)) throw new JwtError('jwt_signature');
}

const verifiers: Readonly<Record<IssuerAlgorithm, (signed: Buffer, key: KeyObject, signature: Buffer) => boolean>> = {
  RS256: (signed, key, signature) => verify('sha256', signed, key, signature),
  // The two numbers of the signature one after the other, not in DER.
  ES256: (signed, key, signature) => verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature),
  EdDSA: (signed, key, signature) => verify(null, signed, key, signature),
};

/**
 * Judges the claims of a JWT whose signature is right. Returns when it ends.
 *
 * @throws JwtError
 */
export function judgeClaims({ claims }: UnverifiedJwt, expected: ExpectedJwt): JwtEnd {
  if (claims.get('iss') !== expected.iss) throw new JwtError('jwt_issuer');
  const end = judgeTimes(claims, expected);
  for (const [name, values] of Object.entries(expected.claims)) {
    const value = claims.get(name);
    if (typeof value !== 'string' || !values.includes(value)) throw new JwtError('jwt_claims');
  }
  // A service token that requires nothing would work with each JWT of its issuer.
  if (Object.keys(expected.claims).length === 0) throw new JwtError('jwt_claims');
  return end;
}

function judgeTimes(claims: ReadonlyMap<string, JsonValue>, { now, maxAgeSeconds }: ExpectedJwt): JwtEnd {
  const exp = timeOf(claims.get('exp'));
  const iat = timeOf(claims.get('iat'));
  const nbf = claims.has('nbf') ? timeOf(claims.get('nbf')) : iat;
  if (exp <= iat) throw new JwtError('jwt_no_times');
  const nowSeconds = now.getTime() / 1000;
  if (nowSeconds >= exp + leewaySeconds) throw new JwtError('jwt_expired');
  if (nowSeconds + leewaySeconds < Math.max(nbf, iat)) throw new JwtError('jwt_not_valid_yet');
  if (exp - iat > maxAgeSeconds) throw new JwtError('jwt_lifetime');
  return { expiresAt: new Date(exp * 1000), acceptedUntil: new Date((exp + leewaySeconds) * 1000) };
}

/** Seconds since the epoch; fractions are allowed. */
function timeOf(value: JsonValue | undefined): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= maxTimeSeconds)) throw new JwtError('jwt_no_times');
  return value;
}

function headerOf(header: ReadonlyMap<string, JsonValue>): Pick<UnverifiedJwt, 'algorithm' | 'keyId'> {
  const typ = header.has('typ') ? header.get('typ') : 'JWT';
  const keyId = header.get('kid');
  const isText = typeof keyId === 'string' && keyId.length <= maxKeyIdLength;
  if (refusedParameters.some((name) => header.has(name))) throw new JwtError('jwt_header');
  if (typeof typ !== 'string' || !types.has(typ.toLowerCase())) throw new JwtError('jwt_header');
  if (header.has('kid') && !isText) throw new JwtError('jwt_header');
  const algorithm = issuerAlgorithms.find((name) => name === header.get('alg'));
  if (algorithm === undefined) throw new JwtError('jwt_algorithm');
  return { algorithm, keyId: isText ? keyId : undefined };
}

/** Another audience beside it could send the JWT to Keyframe, whatever it is. */
function audienceOf(aud: JsonValue | undefined, isAudience: (audience: string) => boolean): string {
  const audiences = Array.isArray(aud) ? aud : [aud];
  const [audience] = audiences;
  const isOne = (one: JsonValue | undefined): boolean => typeof one === 'string' && isAudience(one);
  if (!audiences.some(isOne)) throw new JwtError('jwt_foreign_audience');
  if (audiences.length !== 1 || typeof audience !== 'string') throw new JwtError('jwt_several_audiences');
  return audience;
}

/** The members of the JSON object that a part of a JWT holds. */
function objectOf(part: string): ReadonlyMap<string, JsonValue> {
  const value = jsonOf(textOf(part));
  if (!(value instanceof JsonObject)) throw new JwtError('jwt_malformed');
  refuseRepeatedNames(value);
  return new Map(value.members.map((member) => [member.name, member.value]));
}

function jsonOf(text: string): JsonValue {
  try {
    return readJson(text, { maxDepth });
  } catch (error) {
    if (error instanceof JsonFault) throw new JwtError('jwt_malformed');
    throw error;
  }
}

/** Issuer and Keyframe might take another one of them. */
function refuseRepeatedNames(value: JsonValue): void {
  if (Array.isArray(value)) for (const element of value) refuseRepeatedNames(element);
  if (!(value instanceof JsonObject)) return;
  if (new Set(value.members.map(({ name }) => name)).size !== value.members.length) throw new JwtError('jwt_malformed');
  for (const member of value.members) refuseRepeatedNames(member.value);
}

function textOf(part: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(part));
  } catch {
    throw new JwtError('jwt_malformed');
  }
}

/** The bytes of base64url text. Each has one text only: no padding, and no bits that count for nothing. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (text === '' || bytes.toString('base64url') !== text) throw new JwtError('jwt_malformed');
  return bytes;
}

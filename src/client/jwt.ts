import { readAudience } from '../wire/audiences.ts';

/** What a JWT says of itself. Nothing of it is verified: only the server can do that. */
export interface JwtClaims {
  readonly audiences: readonly string[];
  /** `iat` and `exp`, in milliseconds since 1970; undefined if the JWT does not have them. */
  readonly issuedAt: number | undefined;
  readonly expiresAt: number | undefined;
}

/** A text that looks like a JWT and is none. The message continues after «a JWT that», and repeats nothing of the text. */
export class JwtFault extends Error {}

// The server refuses a longer one.
const maxBytes = 8 * 1024;
// What a Date can be.
const maxSeconds = 8.64e12;
const partNames = ['header', 'payload', 'signature'];

/** Whether a text is a JWT, or what is left of one that was cut. No other token has a dot, or begins as its header does. */
export function isJwtLike(token: string): boolean {
  return token.startsWith('eyJ') || token.includes('.');
}

/** Reads a JWT. Throws JwtFault. */
export function readJwt(token: string): JwtClaims {
  if (token.length > maxBytes) throw new JwtFault(`is longer than ${maxBytes} bytes`);
  const parts = token.split('.');
  if (parts.length !== 3) throw new JwtFault(`has ${parts.length === 1 ? '1 part' : `${parts.length} parts`} of 3`);
  const broken = parts.findIndex((part) => !/^[\w-]+$/.test(part));
  if (broken !== -1) throw new JwtFault(`has no ${partNames[broken]} in base64url`);
  const [, payload] = parts.slice(0, 2).map(objectIn);
  const { aud, iat, exp } = payload ?? {};
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (!audiences.every((audience) => typeof audience === 'string')) throw new JwtFault('names no audience (aud)');
  return { audiences, issuedAt: timeOf(iat), expiresAt: timeOf(exp) };
}

function timeOf(seconds: unknown): number | undefined {
  return typeof seconds === 'number' && Math.abs(seconds) < maxSeconds ? seconds * 1000 : undefined;
}

function objectIn(part: string, index: number): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // As below.
  }
  throw new JwtFault(`has a ${partNames[index]} that is not a JSON object`);
}

/** What users may know of a JWT that the server refused. It is no secret. */
export interface RefusedJwt {
  /** The service token that it was to prove; undefined if it is one that a cluster has. */
  readonly serviceTokenId: string | undefined;
  /** In milliseconds since 1970. */
  readonly expiresAt: number | undefined;
}

/** Undefined for a token of another kind. */
export function refusedJwt(token: string): RefusedJwt | undefined {
  if (!isJwtLike(token)) return undefined;
  try {
    const { audiences, expiresAt } = readJwt(token);
    const target = readAudience(audiences[0] ?? '')?.target;
    return {
      serviceTokenId: target?.type === 'service_token' ? target.id : undefined,
      expiresAt,
    };
  } catch (error) {
    if (error instanceof JwtFault) return undefined;
    throw error;
  }
}

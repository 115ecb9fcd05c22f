import { generateKeyPairSync, type JsonWebKey, type KeyObject, randomUUID, sign } from 'node:crypto';

export type SignerAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

/** Text of a JSON object, or what JSON.stringify makes of it. */
type Part = string | Readonly<Record<string, unknown>>;

/** A key of an issuer, which signs JWTs. It signs any text, also what no issuer would. */
export class JwtSigner {
  readonly algorithm: SignerAlgorithm;
  readonly keyId: string;
  readonly privateKey: KeyObject;
  /** The public key, as an issuer publishes it. */
  readonly jwk: JsonWebKey & { readonly kid: string; readonly alg: string; readonly use: string };

  constructor(algorithm: SignerAlgorithm = 'ES256', keyId: string = randomUUID()) {
    const { publicKey, privateKey } = keyPair(algorithm);
    this.algorithm = algorithm;
    this.keyId = keyId;
    this.privateKey = privateKey;
    this.jwk = { ...publicKey.export({ format: 'jwk' }), kid: keyId, alg: algorithm, use: 'sig' };
  }

  /** A JWT with these claims. `header` replaces parameters of the usual one, or is its text. */
  sign(claims: Part, header: Part = {}): string {
    const usual = { alg: this.algorithm, kid: this.keyId, typ: 'JWT' };
    const text = `${encoded(typeof header === 'string' ? header : { ...usual, ...header })}.${encoded(claims)}`;
    return `${text}.${this.signatureOf(text).toString('base64url')}`;
  }

  signatureOf(text: string): Buffer {
    const digest = this.algorithm === 'EdDSA' ? null : 'sha256';
    return sign(digest, Buffer.from(text), { key: this.privateKey, dsaEncoding: 'ieee-p1363' });
  }
}

/** The claims of the times of a JWT that was made just now and lives for this time. */
export function timesFor(seconds: number, now = Date.now()): { readonly iat: number; readonly exp: number } {
  const iat = Math.floor(now / 1000);
  return { iat, exp: iat + seconds };
}

function keyPair(algorithm: SignerAlgorithm): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  if (algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return generateKeyPairSync('ed25519');
}

function encoded(part: Part): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}

import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { type FieldError, invalidField } from '../../domain/errors/domain-error.ts';
import { type IssuerPreset, issuerPresets } from '../../domain/issuer-presets.ts';
import { limits } from '../../domain/limits.ts';
import { type IssuerAlgorithm, issuerAlgorithms, validateIss, validateJwksUrl } from '../../domain/trusted-issuers.ts';
import { isSecretKey, isValidKey, type KeyFault, type PublicKey, readKeySet } from '../../identity/public-keys.ts';
import { isPublicAddress } from '../../lib/public-address.ts';
import type { TrustedIssuerChange, TrustedIssuerContent } from '../../store/trusted-issuers.ts';
import { checkWhole } from './checks.ts';

/** What an instance admin says of an issuer. */
export interface TrustedIssuerInput {
  readonly preset: IssuerPreset;
  readonly iss: string;
  /** Either the URL of its keys is given, or the keys: JSON Web Keys, public ones only. */
  readonly jwksUrl?: string | undefined;
  readonly keys?: readonly unknown[] | undefined;
  /** By default those of the keys, and of a URL those of the preset. */
  readonly algorithms?: readonly IssuerAlgorithm[] | undefined;
  /** PEM: the only authorities that the server of the URL may have. */
  readonly ca?: string | undefined;
  /** The longest time from `iat` to `exp`; `limits.jwtLifetimeSeconds` by default. */
  readonly maxAgeSeconds?: number | undefined;
}

/** Checks what an issuer is to be. Throws DomainError invalid_input, which repeats nothing of a key. */
export function issuerContent(input: TrustedIssuerInput): TrustedIssuerContent {
  const { preset, iss, jwksUrl, ca, maxAgeSeconds = limits.jwtLifetimeSeconds } = input;
  if (!issuerPresets.includes(preset)) throw invalidField('preset', `must be one of ${issuerPresets.join(', ')}`);
  refuse('iss', validateIss(iss));
  checkWhole('maxAgeSeconds', maxAgeSeconds, { min: 1, max: limits.jwtLifetimeSeconds });
  if ((jwksUrl === undefined) === (input.keys === undefined)) {
    throw invalidField('jwksUrl', 'give either jwksUrl or keys: the issuer publishes its keys, or they never change');
  }
  if (jwksUrl !== undefined) refuse('jwksUrl', validateJwksUrl(jwksUrl));
  if (ca !== undefined && jwksUrl === undefined) {
    throw invalidField('ca', 'has no effect without jwksUrl: nothing is fetched');
  }
  return {
    preset,
    iss,
    jwksUrl: jwksUrl ?? null,
    ...signaturesOf(input),
    ca: ca === undefined ? null : certificatesOf(ca),
    maxAgeSeconds,
  };
}

/** Refuses a URL from whose address no keys are fetched. What a name leads to is judged by each fetch. */
export function refusePrivateAddress({ jwksUrl }: Pick<TrustedIssuerContent, 'jwksUrl'>): void {
  const host = jwksUrl === null ? '' : new URL(jwksUrl).hostname.replaceAll(/[[\]]/g, '');
  if (isIP(host) === 0 || isPublicAddress(host)) return;
  throw invalidField(
    'jwksUrl',
    'must be at a public address: set KEYFRAME_TRUSTED_ISSUER_PRIVATE_ADDRESSES at the server, or give the keys',
  );
}

/** The fields that a change of an issuer changes, and what that means. */
export function issuerChange(
  before: TrustedIssuerContent,
  after: TrustedIssuerContent,
): TrustedIssuerChange & { readonly changed: readonly string[] } {
  // Keys from the same URL are not what was set.
  const compared =
    after.jwksUrl === null || before.jwksUrl === null ? fields : fields.filter((name) => name !== 'keys');
  const changed = compared.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  return {
    changed,
    isNewGeneration: changed.some((name) => name !== 'preset' && name !== 'maxAgeSeconds'),
    // What was fetched from another address, or with other authorities, proves nothing.
    replacesKeys: changed.some((name) => name === 'keys' || name === 'jwksUrl' || name === 'ca'),
  };
}

const fields = ['preset', 'iss', 'jwksUrl', 'keys', 'algorithms', 'ca', 'maxAgeSeconds'] as const;

/** What verifies the JWTs of an issuer. */
function signaturesOf(input: TrustedIssuerInput): Pick<TrustedIssuerContent, 'keys' | 'algorithms'> {
  const algorithms = input.algorithms && algorithmsOf(input.algorithms);
  if (input.keys === undefined) return { keys: null, algorithms: algorithms ?? presetAlgorithms[input.preset] };
  const keys = keysOf(input.keys, algorithms ?? issuerAlgorithms);
  return { keys: { keys }, algorithms: algorithms ?? algorithmsOf(keys.map(({ alg }) => alg)) };
}

/**
 * What an issuer with a URL may sign with if nothing is said. Each key verifies one algorithm, so all of them allow no more
 * than the keys that the issuer publishes.
 */
const presetAlgorithms: Readonly<Record<IssuerPreset, readonly IssuerAlgorithm[]>> = {
  github: ['RS256'],
  gitlab: ['RS256'],
  kubernetes: issuerAlgorithms,
  none: issuerAlgorithms,
};

/** Without repetitions, in the order of all algorithms: another order is no change. */
function algorithmsOf(given: readonly IssuerAlgorithm[]): IssuerAlgorithm[] {
  if (given.length === 0 || given.some((name) => !issuerAlgorithms.includes(name))) {
    throw invalidField('algorithms', `must be one or more of ${issuerAlgorithms.join(', ')}`);
  }
  return issuerAlgorithms.filter((name) => given.includes(name));
}

const keyFaults: Readonly<Record<KeyFault, string>> = {
  other_use: 'must be a key for signatures (use = sig)',
  other_algorithm: 'must be an RSA, EC P-256 or Ed25519 key, for RS256, ES256 or EdDSA',
  weak: 'must have 2,048 to 8,192 bits and a public exponent from 65,537',
  malformed: 'must be a JSON Web Key (RFC 7517) with all members of its type',
};

function keysOf(given: readonly unknown[], algorithms: readonly IssuerAlgorithm[]): PublicKey[] {
  const secret = given.findIndex(isSecretKey);
  if (secret !== -1) {
    throw invalidField(
      `keys.${secret}`,
      'must not be a private or symmetric key: replace it at the issuer, because it was sent here, and give public keys',
    );
  }
  const read = readKeySet({ keys: given });
  if (read === undefined || given.length === 0) throw invalidField('keys', `must be 1 to ${limits.keysPerIssuer} keys`);
  const [unusable] = read.unusable;
  if (unusable !== undefined) throw invalidField(`keys.${unusable.position}`, keyFaults[unusable.fault]);
  const invalid = read.keys.findIndex((key) => !isValidKey(key));
  if (invalid !== -1) throw invalidField(`keys.${invalid}`, keyFaults.malformed);
  const unused = read.keys.findIndex(({ alg }) => !algorithms.includes(alg));
  if (unused !== -1) throw invalidField(`keys.${unused}`, 'must be a key for one of the algorithms');
  const names = read.keys.map(nameOf);
  const twin = names.findIndex((name, position) => names.indexOf(name) !== position);
  if (twin !== -1) throw invalidField(`keys.${twin}`, 'must have another kid than the keys before it');
  // In one order: another one is no change.
  return read.keys.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

/** Selects a key of a set for a JWT. */
function nameOf({ alg, kid }: PublicKey): string {
  return JSON.stringify([alg, kid ?? null]);
}

const certificateForm = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** The certificates of a text in PEM, without what stands between them. */
function certificatesOf(text: string): string {
  const max = limits.issuerCaBytes;
  if (Buffer.byteLength(text) > max) throw invalidField('ca', `must be at most ${max} bytes`);
  if (text.includes('PRIVATE KEY')) throw invalidField('ca', 'must not have a private key: give certificates only');
  try {
    const certificates = (text.match(certificateForm) ?? []).map((pem) => new X509Certificate(pem).toString());
    if (certificates.length > 0) return certificates.join('');
  } catch {
    // As without any.
  }
  throw invalidField('ca', 'must be certificates in PEM');
}

function refuse(field: FieldError['field'], message: string | undefined): void {
  if (message !== undefined) throw invalidField(field, message);
}

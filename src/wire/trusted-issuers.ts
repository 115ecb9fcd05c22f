import { z } from 'zod';
import { issuerPresets } from '../domain/issuer-presets.ts';
import { limits } from '../domain/limits.ts';
import {
  issuerAlgorithms,
  issPattern,
  type KeyFetchFault,
  keyFetchFaults,
  jwksUrlPattern,
  validateIss,
  validateJwksUrl,
} from '../domain/trusted-issuers.ts';
import { booleanText, clusterName, expectedVersion, integerText, text } from './fields.ts';

/** docs/interface.md 4.19: the issuers whose JWTs prove service tokens. */

export const trustedIssuerParams = z.strictObject({
  name: clusterName.meta({ description: 'Name of a trusted issuer.' }),
});

const preset = z.enum(issuerPresets).meta({
  description: 'Which claims a service token must check: those of a job of GitHub or GitLab, or `sub`.',
});
const fetchFault = z.enum(Object.keys(keyFetchFaults) as KeyFetchFault[]);
const algorithms = z.array(z.enum(issuerAlgorithms)).min(1).max(issuerAlgorithms.length);

/** Only the members of its public part are stored. */
const givenKey = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
  .meta({ id: 'PublicJsonWebKey', description: 'A JSON Web Key (RFC 7517), never a private or symmetric one.' });

/** Who signs JWTs, and with which keys. */
export const issuerFields = {
  iss: text(validateIss).meta({ pattern: issPattern.source, description: 'The claim `iss` of its JWTs, to the byte.' }),
  /** Either this is given, or `keys`. */
  jwksUrl: text(validateJwksUrl)
    .meta({ pattern: jwksUrlPattern.source, description: 'Where the issuer publishes its keys.' })
    .exactOptional(),
  /** Public keys, for an issuer whose URL the server cannot reach. */
  keys: z.array(givenKey).min(1).max(limits.keysPerIssuer).exactOptional(),
  /** Those that its JWTs may be signed with. By default those of `keys`; with `jwksUrl`, RS256 for github and gitlab, else all. */
  algorithms: algorithms.exactOptional(),
  /** The only authorities that the server of `jwksUrl` may have, in PEM; the public ones by default. */
  ca: z.string().max(limits.issuerCaBytes).exactOptional(),
};

export const setTrustedIssuerBody = z.strictObject({
  preset,
  ...issuerFields,
  /** The longest time from `iat` to `exp` of its JWTs; a day by default. */
  maxAgeSeconds: z.int().min(1).max(limits.jwtLifetimeSeconds).exactOptional(),
  /** The `version` that the issuer must be at; 0 if it must not exist. */
  expectedVersion: expectedVersion.exactOptional(),
});

export const deleteTrustedIssuerQuery = z.strictObject({
  force: booleanText.exactOptional().meta({ description: 'Whether to revoke the service tokens that it proves.' }),
  expectedVersion: integerText(1).exactOptional().meta({ description: 'The `version` that the issuer must be at.' }),
});

const listedIssuer = z.strictObject({
  name: z.string(),
  /** The cluster that reports it, and whose name it has; null for one that instance admins manage. */
  cluster: z.string().nullable(),
  preset,
  iss: z.string(),
  jwksUrl: z.string().nullable(),
  algorithms,
  maxAgeSeconds: z.int(),
  /** Counts the changes after which other JWTs may prove its tokens, from 1. */
  generation: z.int(),
  /** Counts the changes, from 1. */
  version: z.int(),
  /** When its keys were last fetched; null if they never were, or were given. */
  fetchedAt: z.iso.datetime().nullable(),
  /** Why the last fetch of its keys failed, and when; null if it succeeded, or if none was made. */
  fetchFault: fetchFault.nullable(),
  fetchFailedAt: z.iso.datetime().nullable(),
  /** Since when its JWTs prove nothing, after a restore from a backup; null while they do. */
  disabledAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  changedAt: z.iso.datetime(),
  /** Service tokens that it proves and that are not revoked, and their organizations. */
  tokens: z.int(),
  organizations: z.int(),
});

export const trustedIssuerView = listedIssuer
  .extend({
    /** Its public keys, as given or as last fetched; null before the first fetch. */
    keys: z.array(givenKey).nullable(),
    ca: z.string().nullable(),
  })
  .meta({ id: 'TrustedIssuer' });

export const trustedIssuerListView = z
  .strictObject({
    trustedIssuers: z.array(listedIssuer.meta({ id: 'ListedTrustedIssuer' })),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'TrustedIssuerList' });

/** For the admins of an organization. */
export const issuerNameListView = z
  .strictObject({
    trustedIssuers: z.array(
      z.strictObject({
        name: z.string(),
        preset,
        iss: z.string(),
        generation: z.int(),
        /** Whether its JWTs prove nothing now. */
        isDisabled: z.boolean(),
      }),
    ),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'IssuerNameList' });

export type TrustedIssuerView = z.infer<typeof trustedIssuerView>;
export type ListedIssuerView = z.infer<typeof listedIssuer>;
export type IssuerNameView = z.infer<typeof issuerNameListView>['trustedIssuers'][number];

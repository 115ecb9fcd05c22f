import { z } from 'zod';
import { validateClaims } from '../domain/federation.ts';
import { jwtChecks } from '../domain/jwt-faults.ts';
import { limits } from '../domain/limits.ts';
import { clusterName } from './fields.ts';
import { isObject } from '../lib/is-object.ts';

/** docs/interface.md 4.4: what proves a service token that has no value. */

/** By the name of the claim. */
type Claims = Readonly<Record<string, readonly string[]>>;

// The record of zod silently skips a claim named `__proto__`. This schema refuses it by name.
const claims = (z.unknown() as z.ZodType<unknown, Claims>)
  .transform((input, context): Claims => {
    const report = (message: string, path: string[] = []): void =>
      void context.issues.push({ code: 'custom', message, path, input });
    if (input === undefined) report('is required');
    else if (!isObject(input)) report('must be a JSON object of claims and the values of each');
    else {
      const [wrong] = Object.entries(input).find(([, values]) => !isTexts(values)) ?? [];
      if (wrong !== undefined) report('must be an array of strings', [wrong]);
      else {
        const fault = validateClaims(input as Claims);
        if (fault === undefined) return input as Claims;
        report(fault.message, fault.claim === null ? [] : [fault.claim]);
      }
    }
    return {};
  })
  .meta({
    override: {
      type: 'object',
      description:
        'Claims that a JWT must have as strings, with the allowed values of each. Which claims are enough is decided by the preset of the issuer.',
      propertyNames: { type: 'string', minLength: 1, maxLength: limits.claimNameLength },
      minProperties: 1,
      maxProperties: limits.claimsPerFederation,
      additionalProperties: {
        type: 'array',
        minItems: 1,
        maxItems: limits.valuesPerClaim,
        items: { type: 'string', minLength: 1, maxLength: limits.claimValueLength },
      },
    },
  });

export const federationInput = z.strictObject({
  issuer: clusterName.meta({ description: 'Name of a trusted issuer.' }),
  claims,
});

export const federationView = z
  .strictObject({
    /** Name of the trusted issuer, or of the cluster whose issuer it is. */
    issuer: z.string(),
    /** The only audience of the JWTs that prove the token. */
    audience: z.string(),
    /** Claims that a JWT must have, with the allowed values of each. */
    claims: z.record(z.string(), z.array(z.string())),
    /** The generation of the issuer that an admin accepted. */
    generation: z.int(),
    /** The present generation of the issuer; null if the issuer was deleted. */
    issuerGeneration: z.int().nullable(),
    /** Whether these two are equal. If not, the token does not work in an organization that forbids impersonation. */
    isAccepted: z.boolean(),
  })
  .meta({ id: 'Federation' });

export const acceptIssuerBody = z.strictObject({
  /** The present generation of the issuer. */
  generation: z
    .int()
    .min(1)
    .max(2 ** 31 - 1),
});

export const explainJwtBody = z.strictObject({
  jwt: z
    .string()
    .min(1)
    .max(limits.explainedJwtLength)
    .meta({ description: 'The JWT. It is not stored, and the response has no part of it.' }),
});

export const jwtExplanationView = z
  .strictObject({
    /** Whether the JWT proves the service token, which may have ended. */
    isProven: z.boolean(),
    /** All checks in their order. */
    checks: z.array(
      z.strictObject({
        check: z.enum(jwtChecks),
        outcome: z.enum(['passed', 'failed', 'not_checked']),
        /** What is wrong and what to do, for a check that failed. */
        detail: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'JwtExplanation' });

export type JwtExplanationView = z.infer<typeof jwtExplanationView>;
export type FederationView = z.infer<typeof federationView>;

function isTexts(values: unknown): values is readonly string[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'string');
}

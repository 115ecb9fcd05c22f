import { usageError } from '../../core/cli-error.ts';

/** What proves a new service token instead of a value. */
interface NewFederation {
  readonly issuer: string;
  readonly claims: Readonly<Record<string, readonly string[]>>;
}

interface FederationOptions {
  readonly issuer: string | undefined;
  readonly claims: readonly string[];
}

/** What --issuer and --claim ask for; undefined for a token with a value. Throws a usage error for one without the other. */
export function federationOf({ issuer, claims: given }: FederationOptions): NewFederation | undefined {
  if (issuer === undefined && given.length === 0) return undefined;
  if (issuer === undefined) throw usageError('--claim needs --issuer, whose JWTs have the claim');
  if (given.length === 0) {
    throw usageError(
      '--issuer needs --claim: without claims, each JWT of the issuer would prove the token',
      'Name what only the intended jobs have, such as --claim sub=system:serviceaccount:shop:ci',
    );
  }
  const claims = new Map<string, string[]>();
  for (const pair of given) {
    const { name, value } = claimOf(pair);
    claims.set(name, [...(claims.get(name) ?? []), value]);
  }
  return { issuer, claims: Object.fromEntries(claims) };
}

function claimOf(pair: string): { readonly name: string; readonly value: string } {
  const end = pair.indexOf('=');
  if (end < 1) throw usageError('--claim must be name=value, such as --claim environment=production');
  return { name: pair.slice(0, end), value: pair.slice(end + 1) };
}

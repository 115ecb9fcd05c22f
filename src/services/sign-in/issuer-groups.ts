import { limits } from '../../domain/limits.ts';
import { validateName } from '../../domain/names.ts';
import { SignInRefusal } from './sign-in-refusal.ts';

/** The groups of a user as an issuer sent them. */
export interface IssuerGroups {
  readonly groups: readonly string[];
  /** Entries that cannot be the name of a group, which are ignored. */
  readonly invalid: number;
}

/**
 * Reads the groups claim: a list of names, or one name. No claim means no groups; null for `claim` means that groups are
 * not used.
 *
 * An issuer that has too many groups for a token leaves the claim out and names a place where they are (`_claim_names` of
 * OpenID Connect Core 5.6.2, `hasgroups` of Entra ID). That is refused: the groups must neither seem to be gone nor stay.
 *
 * @throws SignInRefusal groups_not_listed, also for more than `limits.groupsPerUser`
 */
export function groupsOf(claims: Readonly<Record<string, unknown>>, claim: string | null): IssuerGroups {
  if (claim === null) return { groups: [], invalid: 0 };
  const value = claims[claim];
  if (value === undefined || value === null) {
    if (isElsewhere(claims, claim)) throw new SignInRefusal('groups_not_listed');
    return { groups: [], invalid: 0 };
  }
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
  const groups = new Set(entries.filter(isGroupName));
  if (groups.size > limits.groupsPerUser) throw new SignInRefusal('groups_not_listed');
  return { groups: [...groups], invalid: entries.filter((entry) => !isGroupName(entry)).length };
}

function isElsewhere(claims: Readonly<Record<string, unknown>>, claim: string): boolean {
  const names = claims['_claim_names'];
  if (typeof names === 'object' && names !== null && Object.hasOwn(names, claim)) return true;
  const hasGroups = claims['hasgroups'];
  return hasGroups === true || hasGroups === 'true';
}

function isGroupName(entry: unknown): entry is string {
  return typeof entry === 'string' && validateName(entry) === undefined;
}

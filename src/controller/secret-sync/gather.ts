import { DomainError } from '../../domain/domain-error.ts';
import type { ObjectMeta } from '../../kube/objects.ts';
import type { Facts } from './judge.ts';
import { type LookDeps, lookAtTarget } from './look.ts';
import { type ReadDeps, type Round, readPrincipal, readSource } from './read.ts';
import type { SecretData } from './secret-data.ts';
import type { TokenPlace } from './service-token.ts';

export interface GatherDeps extends LookDeps, ReadDeps {}

export interface Gathered {
  readonly facts: Facts;
  /** The target's metadata, where it is ours to write. */
  readonly existing: ObjectMeta | undefined;
  /** The environment's values, where it could be read. */
  readonly data: SecretData | undefined;
  /** When the token ends; null where it does not, undefined where it was not accepted. */
  readonly tokenExpiresAt: Date | null | undefined;
}

/**
 * Sees what is: first the target, then the environment. This order is what lets no older state win: a write is bound to
 * the version that the target had before the environment was read. `fresh` looks at the target itself, not at what a
 * watch told; the token is at `place`. Throws ApiError; what the token or the environment refuses is part of the facts.
 */
export async function gather(
  deps: GatherDeps,
  round: Round,
  { fresh, place }: { readonly fresh: boolean; readonly place: TokenPlace },
): Promise<Gathered> {
  const { target, existing } = await lookAtTarget(deps, round, fresh);
  const facts = { sync: round.sync, target };
  // Nothing is read that could not be written.
  if (target.state === 'foreign' || target.state === 'barred')
    return { ...nothingRead, facts: { ...facts, source: undefined }, existing };
  let tokenExpiresAt: Date | null | undefined;
  try {
    const principal = await readPrincipal(deps, round, place);
    tokenExpiresAt = principal.expiresAt;
    const { source, data } = await readSource(deps, round, principal);
    return { facts: { ...facts, source }, existing, data, tokenExpiresAt };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { facts: { ...facts, source: error }, existing, data: undefined, tokenExpiresAt };
  }
}

const nothingRead = { data: undefined, tokenExpiresAt: undefined };

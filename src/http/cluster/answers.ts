import { z } from 'zod';
import type { ClusterPrincipal } from '../../domain/cluster-principal.ts';
import { servedAtHomeOnly } from '../../domain/cluster-refusal.ts';
import type { ErrorCode } from '../../domain/errors/catalogue.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { domainError } from '../../wire/cluster/error.ts';
import type { ClusterAnswer, ClusterMethod } from '../../wire/cluster/methods.ts';

export interface Answering {
  readonly cluster: ClusterPrincipal;
  /** The request of the method. */
  readonly asked: object;
  readonly run: () => Promise<unknown>;
  /** Called with what the services threw. */
  readonly onError?: (code: ErrorCode) => void;
}

/** What a method answers: its result, or what the services threw. Throws every other error. */
export async function answerOf(
  { result: schema }: Pick<ClusterMethod<object, unknown>, 'result'>,
  { cluster, asked, run, onError }: Answering,
): Promise<ClusterAnswer> {
  try {
    refuseElsewhere(cluster, asked);
    // Not a variable, which would keep the values for as long as a slow reader takes.
    return { result: z.encode(schema, await run()) ?? null };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    onError?.(error.code);
    return { error: z.encode(domainError, error) };
  }
}

/** Throws DomainError served_at_home_only for a SecretEnvironment of another cluster than a home cluster. */
function refuseElsewhere({ isHome }: ClusterPrincipal, request: object): void {
  if (isHome || !('asker' in request)) return;
  const { kind } = request.asker as { readonly kind?: string };
  if (kind === 'SecretEnvironment') throw servedAtHomeOnly();
}

import { errorCatalogue } from '../../../domain/errors/catalogue.ts';
import type { ReadyClaim } from '../../frame/conditions.ts';
import type { ReportedOutcome } from '../../frame/outcome.ts';
import type { Next } from '../../frame/work-queue.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import type { SyncContext } from './model.ts';

/** How the status reports that a SecretSync is denied what it wants to read. */

const { forbidden, not_found: notFound, token_revoked: revoked } = errorCatalogue;
const refusalReasons: ReadonlySet<string> = new Set([forbidden.reason, notFound.reason, revoked.reason]);

// The AccessGrant and the environment may be applied together with the SecretSync, in any order.
const patienceMs = 30_000;

type Reported = Pick<SyncContext, 'resource' | 'memory'>;

interface Report {
  readonly claim: ReadyClaim;
  readonly next: Next;
}

/**
 * The claim of an outcome, and the time of the next reconcile. A denial counts as in progress for 30 s and records no Event,
 * so that one `kubectl apply` of a SecretSync with its AccessGrant and its environment does not fail. After that it is
 * Stalled. The first success records no Event either: the status reports it.
 */
export function refusalReport(
  context: Reported,
  { claim, next = { kind: 'done' } }: Pick<ReportedOutcome, 'claim' | 'next'>,
  nowMs: number,
): Report {
  const isRefusal = claim.progress === 'reconciling' && refusalReasons.has(claim.reason);
  return isRefusal ? refused(context, { claim, next }, nowMs) : other(context, { claim, next });
}

function refused({ resource, memory }: Reported, { claim, next }: Report, nowMs: number): Report {
  memory.refusedSince ??= nowMs;
  const leftMs = memory.refusedSince + patienceMs - nowMs;
  // A new leader continues where the former one stopped.
  const wasStalled = isStalled(resource) && readyReason(resource) === claim.reason;
  if (wasStalled || leftMs <= 0) return { claim: { ...claim, progress: 'stalled' }, next };
  return { claim: { ...claim, isQuiet: true }, next: { kind: 'after', delayMs: leftMs } };
}

function other({ resource, memory }: Reported, { claim, next }: Report): Report {
  const isFirst = readyReason(resource) === undefined || (memory.refusedSince !== undefined && !isStalled(resource));
  memory.refusedSince = undefined;
  return { claim: claim.progress === 'done' && isFirst ? { ...claim, isQuiet: true } : claim, next };
}

function readyReason({ status }: SecretSync): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
}

function isStalled({ status }: SecretSync): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Stalled' && condition.status === 'True') === true;
}

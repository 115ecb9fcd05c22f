import { DomainError } from '../../domain/errors/domain-error.ts';
import type { ErrorEffect } from '../../domain/errors/description.ts';
import { ApiError } from '../../kube/client/api-error.ts';
import type { Progress, ReadyClaim } from './conditions.ts';
import type { Next } from './work-queue.ts';

/**
 * What is reported of a reconcile that threw: a DomainError as it is; of the API server the status alone; of anything
 * else nothing, for its message could quote data.
 */
export function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  if (!(error instanceof ApiError)) {
    return new DomainError('internal', 'The controller met an unexpected error; its log says where. It tries again.', {
      cause: error,
    });
  }
  const detail = error.status === 0 ? 'cannot be reached' : `answered ${error.status} ${error.reason}`;
  const advice = error.status === 401 || error.status === 403 ? ' Check the RBAC of the controller.' : '';
  return new DomainError('cluster_unavailable', `The Kubernetes API ${detail}; the controller tries again.${advice}`, {
    cause: error,
  });
}

/** Whether an error is a fault of the controller itself. */
export function isInternal(error: unknown): boolean {
  return toDomainError(error).code === 'internal';
}

/** What an error makes of the condition Ready. */
export function failureClaim(error: DomainError): ReadyClaim {
  const { reason, effect } = error.description;
  return { progress: progressOf[effect], reason, message: sentence(error.detail) };
}

/** When to come back after an error. */
export function nextAfter(error: DomainError): Next {
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds !== undefined) return { kind: 'after', delayMs: retryAfterSeconds * 1000 };
  return error.description.effect === 'retry' ? retryAfter(error.cause) : { kind: 'done' };
}

/** To try again, not before the API server asks for it if it was the one that failed. */
export function retryAfter(error: unknown): Next {
  const minDelayMs = error instanceof ApiError ? error.retryAfterMs : undefined;
  return { kind: 'retry', ...(minDelayMs === undefined ? {} : { minDelayMs }) };
}

const progressOf: Readonly<Record<ErrorEffect, Progress>> = {
  stall: 'stalled',
  wait: 'reconciling',
  retry: 'reconciling',
};

/** A detail as a sentence of its own. */
function sentence(detail: string): string {
  const text = detail.charAt(0).toUpperCase() + detail.slice(1);
  // Behind YAML, which ends with its line, a full stop would be part of it.
  return /[.!?\n]$/.test(text) ? text : `${text}.`;
}

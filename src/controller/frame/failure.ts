import { DomainError } from '../../domain/errors/domain-error.ts';
import type { ErrorEffect } from '../../domain/errors/description.ts';
import { ApiError } from '../../kube/client/api-error.ts';
import type { Progress, ReadyClaim } from './conditions.ts';
import { clusterUnavailable, unexpectedError } from './messages.ts';
import type { Next } from './work-queue.ts';

/**
 * The error to report for a reconcile that threw: a DomainError itself, the status of an ApiError, and nothing of other
 * errors, because their messages can quote data.
 */
export function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  return error instanceof ApiError ? clusterUnavailable(error) : unexpectedError(error);
}

/** Whether an error is a bug of the controller itself. */
export function isInternal(error: unknown): boolean {
  return toDomainError(error).code === 'internal';
}

/** The condition Ready for an error. An error with a time after which it is retried ends without others. */
export function failureClaim({ description, detail, retryAfterSeconds }: DomainError): ReadyClaim {
  const { reason, effect } = description;
  const progress = retryAfterSeconds === undefined ? progressOf[effect] : 'reconciling';
  return { progress, reason, message: sentence(detail) };
}

/** When to reconcile again after an error. */
export function nextAfter(error: DomainError): Next {
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds !== undefined) return { kind: 'after', delayMs: retryAfterSeconds * 1000 };
  return error.description.effect === 'retry' ? retryAfter(error.cause) : { kind: 'done' };
}

/** A retry, not before the Retry-After of the API server if that failed. */
export function retryAfter(error: unknown): Next {
  const minDelayMs = error instanceof ApiError ? error.retryAfterMs : undefined;
  return { kind: 'retry', ...(minDelayMs === undefined ? {} : { minDelayMs }) };
}

const progressOf: Readonly<Record<ErrorEffect, Progress>> = {
  stall: 'stalled',
  block: 'stalled',
  wait: 'waiting',
  retry: 'reconciling',
};

/** Makes a sentence of a detail. */
function sentence(detail: string): string {
  const text = detail.charAt(0).toUpperCase() + detail.slice(1);
  // A detail that ends with YAML ends with a newline. A full stop would become part of the YAML.
  return /[.!?\n]$/.test(text) ? text : `${text}.`;
}

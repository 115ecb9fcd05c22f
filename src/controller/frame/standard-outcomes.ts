import { toDomainError } from './failure.ts';
import type { KindRules, ReconcileContext, SuspensionRules } from './kind-rules.ts';
import { suspended } from './messages.ts';
import { failureOutcome, nextStatus } from './outcome.ts';
import type { Resource } from './resource.ts';

/** The rules for outcomes that all simple kinds share. */
export function standardOutcomes<T extends Resource>({
  message: text = suspended,
  work,
  fields = {},
}: SuspensionRules<T> = {}): Pick<KindRules<T>, 'suspended' | 'failed' | 'statusAfter'> {
  return {
    suspended: async (context: ReconcileContext<T>) => {
      const { message: note, next } = (await work?.(context)) ?? {};
      const message = [text, ...(note === undefined ? [] : [note])].join(' ');
      const claim = { progress: 'suspended', reason: 'Suspended', message } as const;
      return { claim, fields, ...(next === undefined ? {} : { next }) };
    },
    failed: (error) => failureOutcome<T>(toDomainError(error)),
    statusAfter: nextStatus,
  };
}

import type { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { TargetFacts, TargetRecord, TargetSource } from '../model.ts';
import { sourceAnnotation, sourcesAnnotation } from '../../../annotations.ts';
import { type ReplacedSource, sourceReplaced } from '../messages.ts';
import { isMerge } from '../spec/resource.ts';
import { recordAnnotationOf } from '../target/merge-identity.ts';
import { sourcesOfRecord } from '../target/target-record.ts';
import { isSame } from './key-loss.ts';

/** The sources whose slugs belong to another environment than the one that the Secret holds data of. */
function replacedSources(record: TargetRecord, sources: readonly TargetSource[]): readonly ReplacedSource[] {
  const recorded = sourcesOfRecord(record) ?? [];
  return sources.flatMap((now) => {
    const before = recorded.find((one) => isSame(one, now, sources));
    // If the spec names another environment now, that is on purpose.
    const isReplaced = before?.path === now.path && before.environmentId !== now.environmentId;
    return isReplaced ? [{ before: before.environmentId, now }] : [];
  });
}

/** DomainError source_replaced if a Secret holds data of other environments than these; undefined if it does not. */
export function replacedSourceError(
  sync: SecretSync,
  target: TargetFacts,
  sources: readonly TargetSource[],
): DomainError | undefined {
  if (target.state !== 'owned' && target.state !== 'shared') return undefined;
  const replaced = replacedSources(target.record, sources);
  if (replaced.length === 0) return undefined;
  const own = replaced.some(({ now }) => now.name !== undefined) ? sourcesAnnotation : sourceAnnotation;
  return sourceReplaced(sync, replaced, isMerge(sync) ? recordAnnotationOf(sync) : own);
}

import type { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { TargetFacts, TargetRecord, TargetSource } from '../model.ts';
import { sourceAnnotation, sourcesAnnotation } from '../../../annotations.ts';
import { type ReplacedSource, sourceReplaced } from '../messages.ts';
import { isMerge } from '../spec/resource.ts';
import { environmentPath } from '../../../environment-ref.ts';
import type { Source } from '../spec/source.ts';
import { recordAnnotationOf } from '../target/merge-identity.ts';
import { sourcesOfRecord } from '../target/target-record.ts';
import { isSame } from './key-loss.ts';

/** The environment that a Secret holds data of for a source and its slugs; undefined if its record names none. */
export function recordedEnvironmentId(
  target: TargetFacts,
  source: Source,
  sources: readonly Source[],
): string | undefined {
  if (target.state !== 'owned' && target.state !== 'shared') return undefined;
  return recordedId(sourcesOfRecord(target.record), { name: source.name, path: environmentPath(source) }, sources);
}

function recordedId(
  recorded: readonly TargetSource[] = [],
  now: Pick<TargetSource, 'name' | 'path'>,
  sources: readonly Pick<TargetSource, 'name'>[],
): string | undefined {
  const before = recorded.find((one) => isSame(one, now, sources));
  // If the spec names another environment now, that is on purpose.
  return before?.path === now.path ? before.environmentId : undefined;
}

/** The sources whose slugs belong to another environment than the one that the Secret holds data of. */
function replacedSources(record: TargetRecord, sources: readonly TargetSource[]): readonly ReplacedSource[] {
  const recorded = sourcesOfRecord(record);
  return sources.flatMap((now) => {
    const before = recordedId(recorded, now, sources);
    return before === undefined || before === now.environmentId ? [] : [{ before, now }];
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

import type { Notice, ReadyClaim } from '../../frame/conditions.ts';
import type { ObjectMeta } from '../../../kube/client/objects.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { dataMark } from '../rollout/restart-mark.ts';
import * as messages from './messages.ts';
import { otherOwner } from './ownership-messages.ts';
import { globTest } from '../../../domain/key-globs.ts';
import type { SourceFacts, SourceRevision, WantedFacts } from './model.ts';
import { isMerge } from './spec/resource.ts';
import { fieldOf, sourcesOf } from './spec/source.ts';
import { otherOwners } from './target/target-metadata.ts';
import { revisionIdOf, type HeldData } from '../rollout/model.ts';

/** The claim of the condition Ready for a Secret in the right state; `target` is its metadata. */
export function syncedClaim(sync: SecretSync, wanted: WantedFacts, target: ObjectMeta): ReadyClaim {
  const { rolledBack } = wanted;
  if (rolledBack !== undefined)
    return { progress: 'stalled', reason: 'RolledBack', message: messages.rolledBack(sync, rolledBack) };
  const notices = [...missingNotice(sync, wanted), ...bracesNotice(sync), ...ownerNotice(sync, target)];
  const message = [messages.synced(sync, wanted), ...notices.map((notice) => notice.message)].join(' ');
  return { progress: 'done', reason: 'Synced', message, notices };
}

// What is valid in the spec and probably not meant.

/** The rules for keys that no key of the environment matches. */
function missingNotice(sync: SecretSync, { sources }: WantedFacts): readonly Notice[] {
  const hints = sourcesOf(sync).flatMap((source) => {
    const { keys = [] } = sources.find(({ name }) => name === source.name) ?? {};
    const present = new Set(keys);
    const isUnmatched = (glob: string): boolean =>
      !present.has(glob) && !(/[*?]/.test(glob) && keys.some(globTest([glob])));
    const lists = (['include', 'hidden'] as const).flatMap((list) => {
      const globs = (source.keys?.[list] ?? []).filter(isUnmatched);
      return globs.length === 0 ? [] : [messages.matchesNothing(fieldOf(source, `keys.${list}`), globs)];
    });
    const { stripPrefix } = source.keys?.rewrite ?? {};
    const isStripped = stripPrefix === undefined || keys.some((key) => key.startsWith(stripPrefix));
    return [...lists, ...(isStripped ? [] : [messages.stripsNothing(fieldOf(source, 'keys.rewrite'), stripPrefix)])];
  });
  return hints.length === 0 ? [] : [{ reason: 'KeysMissing', message: hints.join(' ') }];
}

/** References of other tools in templates. */
function bracesNotice(sync: SecretSync): readonly Notice[] {
  const foreign = Object.entries(sync.spec.template?.data ?? {}).flatMap(([name, text]) =>
    text.includes('{{') ? [name] : [],
  );
  return foreign.length === 0 ? [] : [{ reason: 'BracesAreText', message: messages.bracesAreText(foreign.toSorted()) }];
}

/** Other owners of a Secret that the SecretSync owns. */
function ownerNotice(sync: SecretSync, target: ObjectMeta): readonly Notice[] {
  const owners = isMerge(sync) ? [] : otherOwners(sync, target);
  return owners.length === 0 ? [] : [{ reason: 'OtherOwner', message: otherOwner(sync, owners) }];
}

/** The data that workloads are restarted for. Data of several sources has no single revision. */
export function heldData({ sources, fingerprint }: WantedFacts): HeldData | undefined {
  const [only] = sources;
  if (only === undefined) return undefined;
  const states = sources.map((source) => stateOf(source));
  const held = { data: dataMark(fingerprint), revisionId: revisionIdOf(sources), sources: states };
  return only.name === undefined
    ? { ...held, revision: only.revision }
    : { ...held, revision: 0, label: messages.revisions(states) };
}

function stateOf({ name, revision, revisionId }: SourceFacts): SourceRevision {
  return { ...(name === undefined ? {} : { name }), revision, revisionId };
}

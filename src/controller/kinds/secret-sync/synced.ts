import type { ReadyClaim } from '../../frame/conditions.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { dataMark } from '../rollout/restart-mark.ts';
import * as messages from './messages.ts';
import type { SourceFacts, SourceRevision, WantedFacts } from './model.ts';
import { revisionIdOf, type HeldData } from '../rollout/model.ts';

/** What the condition Ready says of a Secret that is as it should be. */
export function syncedClaim(sync: SecretSync, wanted: WantedFacts): ReadyClaim {
  const { rolledBack } = wanted;
  return rolledBack === undefined
    ? { progress: 'done', reason: 'Synced', message: messages.synced(sync, wanted) }
    : { progress: 'stalled', reason: 'RolledBack', message: messages.rolledBack(sync, rolledBack) };
}

/** What workloads are restarted for. With several sources there is no one revision of it. */
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

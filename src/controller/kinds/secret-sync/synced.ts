import type { ReadyClaim } from '../../frame/conditions.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { dataMark } from '../rollout/restart-mark.ts';
import { pinnedTo } from './spec/pin.ts';
import { targetOf } from './spec/resource.ts';
import { revisionsText } from './rollback/rolled-back.ts';
import { sourcesOf } from './spec/source.ts';
import { retryAnnotation } from '../../annotations.ts';
import type { RolledBack, SourceFacts, SourceRevision, WantedFacts } from './model.ts';
import { revisionIdOf, type HeldData } from '../rollout/model.ts';

/** What the condition Ready says of a Secret that is as it should be. */
export function syncedClaim(sync: SecretSync, wanted: WantedFacts): ReadyClaim {
  const { rolledBack } = wanted;
  return rolledBack === undefined
    ? { progress: 'done', reason: 'Synced', message: syncedMessage(sync, wanted) }
    : { progress: 'stalled', reason: 'RolledBack', message: rolledBackMessage(sync, rolledBack) };
}

function syncedMessage(sync: SecretSync, { sources, names }: WantedFacts): string {
  const { name } = targetOf(sync);
  const keys = names.length === 1 ? '1 key' : `${names.length} keys`;
  const states = sources.map(({ name: source, revision }) => {
    const spec = sourcesOf(sync).find((one) => one.name === source);
    return { source, revision, pinned: spec === undefined ? undefined : pinnedTo(spec) };
  });
  const [only] = states;
  if (only !== undefined && only.source === undefined) {
    const pinned = only.pinned === undefined ? '' : `, ${only.pinned}`;
    return `Secret ${name} holds revision ${only.revision} with ${keys}${pinned}.`;
  }
  const told = states.map(
    ({ source, revision, pinned }) => `${source} at revision ${revision}${pinned === undefined ? '' : ` (${pinned})`}`,
  );
  return `Secret ${name} holds ${keys}: ${told.join(', ')}.`;
}

/** What the conditions say of a Secret that was taken back. */
function rolledBackMessage(sync: SecretSync, { sources, held, cause }: RolledBack): string {
  const { name, namespace = '' } = sync.metadata;
  const why = cause === undefined ? '' : ` (${cause})`;
  return (
    `Secret ${targetOf(sync).name} was taken back to ${revisionsText(held.sources)}, with which all workloads had ` +
    `converged: with ${revisionsText(sources)} they failed${why}. Other data is taken up by itself as soon as there is ` +
    `some; to have the same tried once more, run \`kubectl annotate --overwrite secretsync -n ${namespace} ${name} ` +
    `${retryAnnotation}="$(date +%s)"\`.`
  );
}

/** What workloads are restarted for. With several sources there is no one revision of it. */
export function heldData({ sources, fingerprint }: WantedFacts): HeldData | undefined {
  const [only] = sources;
  if (only === undefined) return undefined;
  const states = sources.map((source) => stateOf(source));
  const held = { data: dataMark(fingerprint), revisionId: revisionIdOf(sources), sources: states };
  return only.name === undefined
    ? { ...held, revision: only.revision }
    : { ...held, revision: 0, label: revisionsText(states) };
}

function stateOf({ name, revision, revisionId }: SourceFacts): SourceRevision {
  return { ...(name === undefined ? {} : { name }), revision, revisionId };
}

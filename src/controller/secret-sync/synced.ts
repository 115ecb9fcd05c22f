import type { SecretSync } from '../generated/secret-sync.ts';
import type { HeldData } from '../rollout/converge.ts';
import { dataMark } from '../rollout/restart-mark.ts';
import type { WantedFacts } from './judge.ts';
import { pinnedTo } from './pin.ts';
import { targetOf } from './resource.ts';
import { sourcesOf } from './source.ts';
import { revisionIdOf } from './status.ts';

/** What the condition Ready says of a Secret that is as it should be. */
export function syncedMessage(sync: SecretSync, { sources, names }: WantedFacts): string {
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

/** What workloads are restarted for. With several sources there is no one revision of it. */
export function heldData({ sources, fingerprint }: WantedFacts): HeldData | undefined {
  const [only] = sources;
  if (only === undefined) return undefined;
  const data = dataMark(fingerprint);
  const revisionId = revisionIdOf(sources);
  if (only.name === undefined) return { revision: only.revision, revisionId, data };
  const told = sources.map(({ name, revision }) => `revision ${revision} of ${name}`).join(' and ');
  return { revision: 0, told, revisionId, data };
}

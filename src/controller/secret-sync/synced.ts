import type { SecretSync } from '../generated/secret-sync.ts';
import type { HeldData } from '../rollout/converge.ts';
import { dataMark } from '../rollout/restart-mark.ts';
import type { WantedFacts } from './judge.ts';
import { pinnedTo } from './pin.ts';
import { targetOf } from './resource.ts';
import { sourcesOf } from './source.ts';

/** What the condition Ready says of a Secret that is as it should be. */
export function syncedMessage(sync: SecretSync, { sources, names }: WantedFacts): string {
  const { name } = targetOf(sync);
  const keys = names.length === 1 ? '1 key' : `${names.length} keys`;
  const [only] = sourcesOf(sync);
  const pinned = only === undefined ? '' : pinnedTo(only);
  return `Secret ${name} holds revision ${sources[0]?.revision} with ${keys}${pinned}.`;
}

/** What workloads are restarted for. */
export function heldData({ sources, fingerprint }: WantedFacts): HeldData | undefined {
  const [only] = sources;
  if (only === undefined) return undefined;
  const { revision, revisionId } = only;
  return { revision, revisionId, data: dataMark(fingerprint) };
}

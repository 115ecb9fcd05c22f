import { describe, expect, test } from '@jest/globals';
import type { ReadyClaim } from '../../../src/controller/frame/conditions.ts';
import type { SecretSyncStatus } from '../../../src/controller/generated/secret-sync.ts';
import { heldData, syncedClaim } from '../../../src/controller/kinds/secret-sync/synced.ts';
import { type SyncOptions, secretSync, targetMeta } from './builders.ts';
import { prod, wanted } from './judge-facts.ts';
import { sourceOf } from './source-harness.ts';
import type { WantedFacts } from '../../../src/controller/kinds/secret-sync/model.ts';
import { syncedRevisionIdOf } from '../../../src/controller/kinds/rollout/model.ts';

const shared = { ...prod, name: 'shared', revision: 4, revisionId: 'r4' };
const own = { ...prod, name: 'own', revision: 9, revisionId: 'r9' };
const united: WantedFacts = { ...wanted, sources: [shared, own], fingerprint: Buffer.alloc(32, 1) };
const status: SecretSyncStatus = {
  sources: [
    { name: 'shared', syncedRevisionId: 'r4' },
    { name: 'own', syncedRevisionId: 'r9' },
  ],
};

function claimOf(options: SyncOptions, of: WantedFacts = wanted): ReadyClaim {
  return syncedClaim(secretSync(options), of, targetMeta());
}

describe('what is reported of a Secret in step', () => {
  test('names its one revision, or that of each source, and the pins', () => {
    const sources = [sourceOf('shared', { snapshotRef: { name: 'good' } }), sourceOf('own', { revision: 9 })];
    expect(claimOf({ spec: { revision: 7 } }).message).toBe(
      'Secret app holds revision 7 with 2 keys, pinned to that revision.',
    );
    expect(claimOf({ spec: { sources } }, united).message).toBe(
      'Secret app holds 2 keys: shared at revision 4 (pinned to the SecretSnapshot good), own at revision 9 (pinned to that revision).',
    );
  });
});

describe('what a spec probably does not mean', () => {
  test('is a name or a glob that no key of the environment has', () => {
    const keys = { include: ['A', 'NOPE', 'DB_*', '*B'] };
    const { progress, message } = claimOf({ spec: { keys } }, { ...wanted, names: ['A', 'B'] });
    expect([progress, message]).toEqual([
      'done',
      'Secret app holds revision 7 with 2 keys. spec.keys.include names keys that the environment does not have: NOPE, DB_*.',
    ]);
    const sources = [sourceOf('shared'), sourceOf('own', { keys: { include: ['NOPE'] } })];
    expect(claimOf({ spec: { sources } }, united).message).toContain(
      'spec.sources[own].keys.include names keys that the environment does not have: NOPE.',
    );
  });

  test('is a reference in the form of other tools', () => {
    const template = { data: { URL: 'http://{{ .HOST }}', OK: '$(A)' } };
    const { message, notices = [] } = claimOf({ spec: { template } });
    expect(message).toMatch(
      / In spec\.template\.data, "\{\{" is text, not a reference \(URL\)\. Refer to a key with \$\(KEY\)\.$/,
    );
    // The Event says the same.
    expect(notices).toEqual([{ reason: 'BracesAreText', message: expect.stringMatching(/./) }]);
    expect(message.endsWith(` ${notices[0]?.message}`)).toBe(true);
    expect(claimOf({}).notices).toEqual([]);
  });

  test('is not to leave out a key, or to choose none', () => {
    for (const keys of [{ exclude: ['NOPE'] }, { include: [] }, {}]) {
      expect(claimOf({ spec: { keys } }).message).toMatch(/with 2 keys\.$/);
    }
  });
});

describe('what workloads are restarted for', () => {
  test('has the revision of the one environment', () => {
    expect(heldData({ ...united, sources: [prod] })).toEqual({
      revision: 7,
      revisionId: 'r7',
      data: '01'.repeat(16),
      sources: [{ revision: 7, revisionId: 'r7' }],
    });
  });

  test('has no revision of several sources, but reports theirs, and is known again in the status', () => {
    const held = heldData(united);
    expect(held).toMatchObject({ revision: 0, label: 'revision 4 of shared and revision 9 of own' });
    expect(syncedRevisionIdOf(status)).toBe(held?.revisionId);
    expect(syncedRevisionIdOf({ syncedRevisionId: 'r7' })).toBe('r7');
    const turned = { sources: status.sources?.map((one) => ({ ...one, syncedRevisionId: 'r4' })) ?? [] };
    expect(syncedRevisionIdOf(turned)).not.toBe(held?.revisionId);
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AuthenticationRefusal } from '../../../src/services/access/authentication.ts';
import { secrets } from './controller-harness.ts';
import { serviceToken } from './fake-services.ts';
import { SourceHarness, ownValues, pathOf, sharedValues, sourceOf, united } from './source-harness.ts';

interface Refusal {
  readonly what: string;
  readonly refuse: () => void;
  readonly reported: { readonly reason: string; readonly message: string };
  readonly mend: () => void;
}

let harness: SourceHarness;
const [shared, own] = [sourceOf('shared'), sourceOf('own')];

beforeEach(() => {
  harness = new SourceHarness();
});

afterEach(() => harness.controller.stop());

describe('a SecretSync of several sources', () => {
  test('holds what all of them give, and of a name that two give the value of the later one', async () => {
    await harness.syncedWith();
    expect(harness.values()).toEqual(united);
    expect(harness.ready()).toMatchObject({
      reason: 'Synced',
      message: 'Secret app holds 4 keys: shared at revision 1, own at revision 1.',
    });
    harness.put([own, shared]);
    await harness.calls();
    expect(harness.values()).toEqual({ ...united, B: 'shared b' });
  });

  test('reports the state of each in its status, and none of them in the fields of one environment', async () => {
    await harness.syncedWith();
    harness.change('own', { ...ownValues, D: 'next' });
    await harness.calls();
    const { sources, secretCount, environmentId, wantedRevision, syncedRevisionId } = harness.status();
    expect(sources).toEqual([
      {
        name: 'shared',
        environmentId: 'shared',
        wantedRevision: 1,
        wantedRevisionId: 'shared-r1',
        syncedRevision: 1,
        syncedRevisionId: 'shared-r1',
      },
      {
        name: 'own',
        environmentId: 'own',
        wantedRevision: 2,
        wantedRevisionId: 'own-r2',
        syncedRevision: 2,
        syncedRevisionId: 'own-r2',
      },
    ]);
    expect([secretCount, environmentId, wantedRevision, syncedRevisionId]).toEqual([
      4,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each(['shared', 'own'])('takes a change of the source %s at once, by one write', async (name) => {
    await harness.syncedWith();
    harness.change(name, name === 'own' ? { ...ownValues, N: 'new' } : { ...sharedValues, N: 'new' });
    expect((await harness.calls()).filter((call) => !call.startsWith('GET'))).toHaveLength(2);
    expect(harness.values()).toEqual({ ...united, N: 'new' });
  });

  test('writes nothing for a change that another source hides, but its record of the revision in the status', async () => {
    await harness.syncedWith();
    harness.change('shared', { ...sharedValues, B: 'hidden' });
    expect((await harness.calls()).filter((call) => call.startsWith('PUT'))).toEqual([]);
    expect(harness.status().sources?.[0]?.syncedRevision).toBe(2);
  });

  test('finds by one comparison what was missed in any of them', async () => {
    await harness.syncedWith();
    harness.change('shared', { ...sharedValues, A: 'missed' }, { missed: true });
    harness.services.ready();
    await harness.calls();
    expect(harness.values()).toEqual({ ...united, A: 'missed' });
    harness.change('own', { ...ownValues, D: 'missed' }, { missed: true });
    harness.services.ready();
    await harness.calls();
    expect(harness.values()).toEqual({ ...united, A: 'missed', D: 'missed' });
    harness.services.ready();
    expect(await harness.calls()).toEqual([]);
  });

  test('is not written again by another controller', async () => {
    await harness.syncedWith();
    await harness.controller.stop();
    const again = new SourceHarness(harness);
    await again.start();
    expect((await again.calls()).filter((call) => !call.startsWith('GET') && !call.includes('leases'))).toEqual([]);
    expect(again.writes).toEqual([]);
    await again.controller.stop();
  });

  test('reads with a token of its own for each', async () => {
    await harness.syncedWith();
    const readers = harness.services.reads.map(({ environmentId, caller }) => [
      environmentId,
      'principal' in caller && caller.principal.type === 'service_token' ? caller.principal.id : undefined,
    ]);
    expect(readers).toEqual([
      ['shared', 'shared'],
      ['own', 'own'],
    ]);
  });

  test('chooses, renames and decodes the keys of each by its own rules, and a lost one by none', async () => {
    const encoded = { ...sharedValues, E: 'ZW5jb2RlZA==', D: 'no base64' };
    harness.makeEnvironment('shared', encoded);
    await harness.syncedWith([
      sourceOf('shared', { keys: { exclude: ['A'], decodeBase64: ['E', 'D'] } }),
      sourceOf('own', { keys: { rename: [{ from: 'B', to: 'C' }] } }),
    ]);
    expect(harness.values()).toEqual({ B: 'shared b', C: 'own b', E: 'encoded', D: 'own d' });
    expect(harness.annotation('renamed')).toEqual({ C: 'B' });
  });

  test('composes values from what all of them give together', async () => {
    await harness.syncedWith([shared, own], { template: { data: { url: '$(A)/$(B)/$(D)' } } });
    expect(harness.values()).toEqual({ ...united, url: 'shared a/own b/own d' });
    harness.change('own', { B: 'own b' });
    await harness.calls();
    expect(harness.ready()).toMatchObject({ reason: 'TemplateKeyMissing' });
    expect(harness.ready()?.message).toMatch(/: D\. .* spec\.sources\[\]\.keys /);
  });

  test('may have one environment twice, at a pin and as it is', async () => {
    const follower = { ...shared, name: 'follower', keys: { rename: [{ from: 'A', to: 'NEWEST_A' }], include: ['A'] } };
    await harness.syncedWith([sourceOf('shared', { revision: 1 }), follower]);
    expect(harness.values()).toEqual({ ...sharedValues, NEWEST_A: 'shared a' });
    harness.change('shared', { ...sharedValues, A: 'next' });
    await harness.calls();
    expect(harness.values()).toEqual({ ...sharedValues, NEWEST_A: 'next' });
  });

  test('may pin one of them', async () => {
    await harness.syncedWith([sourceOf('shared', { revision: 1 }), own]);
    harness.change('shared', { A: 'later' });
    expect(await harness.calls()).toEqual([]);
    harness.change('own', { D: 'next' });
    await harness.calls();
    expect(harness.values()).toEqual({ ...sharedValues, D: 'next' });
    expect(harness.ready()?.message).toBe(
      'Secret app holds 4 keys: shared at revision 1 (pinned to that revision), own at revision 2.',
    );
  });
});

describe('while one source cannot be read', () => {
  const again = { ...ownValues, D: 'again' };
  const refusals: readonly Refusal[] = [
    {
      what: 'its token is refused',
      refuse: () => {
        const detail = 'the token was revoked; use another';
        const refusal = new AuthenticationRefusal('revoked', detail, serviceToken('own'));
        harness.services.tokens.set('kf_svc_own', refusal);
        harness.services.notify({ kind: 'service_token', serviceTokenId: 'own' });
      },
      reported: {
        reason: 'AuthenticationFailed',
        message:
          'Source own: The token in Secret token-own, key token, was refused: the token was revoked; use another. ' +
          'Put a new service token there, such as that of `keyframe token create-service -o acme -n ns -s environment --project web --env own -p read`.',
      },
      mend: () => {
        harness.makeEnvironment('own', again);
        harness.services.notify({ kind: 'service_token', serviceTokenId: 'own' });
      },
    },
    {
      what: 'its environment is gone',
      refuse: () => {
        harness.services.environments.delete(pathOf('own'));
        harness.services.notify({ kind: 'environment', environmentId: 'own', revisionId: 'own-r1', ended: true });
      },
      reported: {
        reason: 'NotFound',
        message:
          'Source own: environment acme/web/own does not exist or was deleted, or the token in Secret token-own, key token, is for another ' +
          'place. Check spec.sources[own].environmentRef, and the scope of the token with `keyframe token list-service -o acme`. Secret app is unchanged.',
      },
      mend: () => {
        harness.makeEnvironment('own', again);
        harness.services.notify({ kind: 'environment', environmentId: 'own', revisionId: 'own-r1', appeared: true });
      },
    },
    {
      what: 'its token Secret is gone',
      refuse: () => harness.cluster.remove(`${secrets}/token-own`),
      reported: {
        reason: 'TokenSecretNotFound',
        message:
          'Source own: Secret token-own does not exist in this namespace, or has no token in the key token. ' +
          'Put a service token there, or name another Secret and key in spec.sources[own].tokenSecretRef.',
      },
      mend: () => harness.makeEnvironment('own', again),
    },
  ];

  test.each(refusals)('for $what, the whole Secret stays as it is', async ({ refuse, reported, mend }) => {
    await harness.syncedWith();
    refuse();
    await harness.calls();
    expect(harness.ready()).toMatchObject(reported);
    harness.services.reads.splice(0);
    harness.change('shared', { ...sharedValues, A: 'next' });
    await harness.calls();
    expect(harness.values()).toEqual(united);
    // Nothing is read for nothing.
    expect(harness.services.reads).toEqual([]);
    mend();
    await harness.calls();
    expect(harness.values()).toEqual({ ...united, A: 'next', D: 'again' });
    expect(harness.ready()?.reason).toBe('Synced');
  });

  test('the first one in the order of the spec is reported, whatever keeps a later one from having a token', async () => {
    await harness.syncedWith();
    harness.cluster.remove(`${secrets}/token-own`);
    const revoked = new AuthenticationRefusal('revoked', 'the token was revoked', serviceToken('shared'));
    harness.services.tokens.set('kf_svc_shared', revoked);
    harness.services.notify({ kind: 'service_token', serviceTokenId: 'shared' });
    await harness.calls();
    expect(harness.ready()?.message).toMatch(
      /^Source shared: The token in Secret token-shared, key token, was refused/,
    );
    harness.services.tokens.set('kf_svc_shared', serviceToken('shared'));
    harness.services.notify({ kind: 'service_token', serviceTokenId: 'shared' });
    await harness.calls();
    expect(harness.ready()?.message).toMatch(/^Source own: Secret token-own does not exist/);
    harness.makeEnvironment('own', ownValues);
    await harness.calls();
    expect(harness.ready()?.reason).toBe('Synced');
  });

  test('two keys of it that would end at one name are reported with its name', async () => {
    await harness.syncedWith([shared, sourceOf('own', { keys: { rename: [{ from: 'B', to: 'D' }] } })]);
    expect(harness.ready()).toMatchObject({ reason: 'KeyConflict' });
    expect(harness.ready()?.message).toMatch(
      /^Source own: The keys B and D would both become D\..* spec\.sources\[own\]\.keys\.exclude.* spec\.sources\[own\]\.keys\.rename\.$/,
    );
    expect(harness.target()).toBeUndefined();
  });
});

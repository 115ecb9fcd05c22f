import { AuthenticationRefusal } from '../../../src/services/access/authentication.ts';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { BearerPrincipal } from '../../../src/domain/principal.ts';
import { Harness, prod, secrets, shortestChange, syncs } from './controller-harness.ts';
import type { SyncOptions } from './builders.ts';
import { settled } from './fake-clock.ts';
import { serviceToken } from './fake-services.ts';

let harness: Harness;
const inStep = { A: 'alpha', B: 'beta' };
const hour = 3_600_000;

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

function revoke(token = 'kf_svc_good', id = 'good'): void {
  harness.services.tokens.set(token, new AuthenticationRefusal('revoked', 'the token was revoked; use another'));
  harness.services.notify({ kind: 'service_token', serviceTokenId: id });
}

describe('a token', () => {
  test('that is revoked ends the syncing at once and leaves the Secret as it was', async () => {
    await harness.synced();
    const before = harness.target();
    revoke();
    expect(await harness.calls()).toEqual([
      `GET ${secrets}/token`,
      // Once more, past the API server's cache, before the refusal counts.
      `GET ${secrets}/token`,
      `PATCH ${syncs}/app/status`,
      'POST /apis/events.k8s.io/v1/namespaces/ns/events',
    ]);
    expect(harness.ready()).toMatchObject({
      status: 'False',
      reason: 'AuthenticationFailed',
      message:
        'The token in Secret token, key token, was refused: the token was revoked; use another. ' +
        'Put a new service token there, such as that of `keyframe token create-service -o acme -n ns -s environment --project web --env prod -p read`.',
    });
    harness.services.change(prod, { A: 'x' });
    expect(await harness.calls()).toEqual([]);
    expect(harness.target()).toEqual(before);
    expect(harness.status()).toMatchObject({ syncedRevision: 1, secretCount: 2 });
  });

  test('that is revoked while it is being looked up is looked up once more', async () => {
    harness.services.duringAuthentication = () => revoke();
    await harness.synced();
    expect(harness.ready()?.reason).toBe('AuthenticationFailed');
  });

  test('that expires is noticed then, without an event', async () => {
    harness.services.create(prod, 'env', inStep);
    harness.services.tokens.set('kf_svc_good', serviceToken('good', new Date(harness.clock.now() + hour)));
    harness.putToken('kf_svc_good');
    harness.putSync();
    await harness.start();
    await harness.clock.advance(hour);
    expect(harness.ready()?.reason).toBe('Synced');
    harness.services.tokens.set('kf_svc_good', 'the token has expired; use another');
    await harness.clock.advance(1000);
    await harness.calls();
    expect(harness.ready()).toMatchObject({ reason: 'AuthenticationFailed' });
    expect(harness.values()).toEqual(inStep);
  });

  test("that the database's clock lets live a little longer is asked about again", async () => {
    harness.services.create(prod, 'env', inStep);
    harness.services.tokens.set('kf_svc_good', serviceToken('good', new Date(harness.clock.now() + 5000)));
    harness.putToken('kf_svc_good');
    harness.putSync();
    await harness.start();
    await harness.clock.advance(6000);
    harness.services.tokens.set('kf_svc_good', 'the token has expired; use another');
    await harness.clock.advance(1000);
    await harness.calls();
    expect(harness.ready()?.reason).toBe('AuthenticationFailed');
  });

  test('that takes the place of a revoked one works at once', async () => {
    await harness.synced();
    revoke();
    await harness.calls();
    harness.services.change(prod, { A: 'x' });
    harness.services.tokens.set('kf_svc_new', serviceToken('new'));
    harness.putToken('kf_svc_new');
    await harness.calls();
    expect(harness.values()).toEqual({ A: 'x' });
    revoke('kf_svc_new', 'new');
    await harness.calls();
    expect(harness.ready()?.reason).toBe('AuthenticationFailed');
  });

  test('with a line end behind it is taken without', async () => {
    harness.services.create(prod, 'env', inStep);
    harness.services.tokens.set('kf_svc_good', serviceToken('good'));
    harness.putToken('kf_svc_good\n');
    harness.putSync();
    await harness.start();
    expect(harness.ready()?.reason).toBe('Synced');
  });

  test('of a person is refused: it would not be watched over', async () => {
    await harness.synced();
    const person = { ...serviceToken('p'), type: 'user', instanceAdmin: true } as unknown as BearerPrincipal;
    harness.services.tokens.set('kf_pat_person', person);
    harness.putToken('kf_pat_person');
    await harness.calls();
    expect(harness.ready()).toMatchObject({
      reason: 'AuthenticationFailed',
      message: expect.stringMatching(
        /^The key token of Secret token holds a personal token\. Put a new service token there,/,
      ),
    });
  });

  test('appears in no log, status or Event', async () => {
    await harness.synced();
    harness.putToken('kf_svc_unknown_canary');
    await harness.calls();
    expect(harness.ready()?.reason).toBe('AuthenticationFailed');
    const shown = JSON.stringify([harness.logs, harness.status(), harness.cluster.events]);
    expect(shown).not.toMatch(/canary|kf_svc_good|alpha\b/);
  });
});

describe('a token Secret', () => {
  test('that is not there is asked for by name, and waited for', async () => {
    harness.services.create(prod, 'env', inStep);
    harness.services.tokens.set('kf_svc_good', serviceToken('good'));
    harness.putSync();
    await harness.start();
    expect(harness.ready()).toMatchObject({
      reason: 'TokenSecretNotFound',
      message: expect.stringMatching(
        /^Secret token does not exist .* has no token in the key token\. Put .*tokenSecretRef\.$/,
      ),
    });
    harness.putToken('kf_svc_good');
    await harness.calls();
    expect(harness.values()).toEqual(inStep);
  });

  test('is reported alike if it is missing, lacks the key, or holds no token there: not all users may read Secrets', async () => {
    const { tokens } = harness.services;
    tokens.set('password', new AuthenticationRefusal('malformed', 'the token is malformed'));
    harness.putSync({ spec: { tokenSecretRef: { name: 'foreign', key: 'password' } } });
    await harness.start();
    // The Event comes when the time for what a new SecretSync lacks is over.
    await harness.clock.advance(31_000);
    const shown = (): unknown => {
      const events = harness.cluster.events.splice(0).map(({ reason, note, type }) => ({ reason, note, type }));
      return { ready: { ...harness.ready(), lastTransitionTime: '' }, events };
    };
    const missing = shown();
    const states: Record<string, string>[] = [{ other: 'x' }, { password: '' }, { password: 'password' }, {}];
    for (const data of states) {
      harness.cluster.remove(`${secrets}/foreign`);
      harness.cluster.put(secrets, 'foreign', (secret) => {
        secret['data'] = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)]));
      });
      await harness.calls();
      expect(shown()).toEqual({ ...(missing as object), events: [] });
    }
    expect(missing).toMatchObject({ ready: { reason: 'TokenSecretNotFound' }, events: [{ type: 'Warning' }] });
  });

  test('with a mistyped token is reported as such', async () => {
    harness.services.tokens.set('kf_svc_cut', new AuthenticationRefusal('malformed', 'the token is malformed'));
    harness.putToken('kf_svc_cut');
    harness.putSync();
    await harness.start();
    expect(harness.ready()).toMatchObject({
      reason: 'AuthenticationFailed',
      message: expect.stringMatching(
        /^The token in Secret token, key token, was refused: it is malformed: .* Put a new/,
      ),
    });
  });

  test('that is deleted ends the syncing and leaves the Secret', async () => {
    await harness.synced();
    harness.cluster.remove(`${secrets}/token`);
    await harness.calls();
    expect(harness.ready()?.reason).toBe('TokenSecretNotFound');
    expect(harness.values()).toEqual(inStep);
  });

  test('that goes in the moment in which it is read is missed once', async () => {
    await harness.synced();
    harness.cluster.before(/^GET .*token$/, () => harness.cluster.remove(`${secrets}/token`));
    harness.services.change(prod, { A: 'x' });
    await harness.calls();
    expect(harness.reconciled).toEqual(['TokenSecretNotFound']);
  });

  test('of a SecretSync that was deleted during its reconcile is not followed', async () => {
    await harness.synced();
    harness.services.duringRead = async () => {
      harness.cluster.remove(`${syncs}/app`);
      await settled();
    };
    harness.services.change(prod, { A: 'x' });
    await settled();
    await settled();
    expect(harness.cluster.openWatches.filter((watch) => watch.includes('metadata.name'))).toEqual([]);
  });

  test('is followed by one watch for all who name it, as long as someone does', async () => {
    await harness.synced();
    harness.putSync({ name: 'second' });
    await harness.calls();
    const watch = `${secrets}?metadata.name=token`;
    expect(harness.cluster.openWatches.filter((open) => open === watch)).toHaveLength(1);
    harness.cluster.remove(`${syncs}/app`);
    await harness.calls();
    expect(harness.cluster.openWatches).toContain(watch);
    harness.cluster.remove(`${syncs}/second`);
    await harness.calls();
    expect(harness.cluster.openWatches).not.toContain(watch);
  });
});

describe('an environment', () => {
  test('that does not exist yet is synced when it is made, and only then', async () => {
    await harness.synced({ spec: { environmentRef: { organization: 'acme', project: 'web', name: 'later' } } });
    expect(harness.ready()).toMatchObject({
      reason: 'NotFound',
      message:
        'Environment acme/web/later does not exist or was deleted, or the token in Secret token, key token, is for another place. ' +
        'Check spec.environmentRef, and the scope of the token with `keyframe token list-service -o acme`. Secret app is unchanged.',
    });
    harness.services.create('acme/web/later', 'later', { L: '1' });
    harness.services.notify({ kind: 'environment', environmentId: 'later', revisionId: 'later-r1', appeared: true });
    await harness.calls();
    expect(harness.values()).toEqual({ L: '1' });
  });

  test('that is made in the moment in which it is looked for is not missed', async () => {
    await harness.synced();
    harness.services.duringLookup = () => {
      harness.services.create('acme/web/later', 'later', { L: '1' });
      harness.services.notify({ kind: 'environment', environmentId: 'later', revisionId: 'later-r1', appeared: true });
    };
    harness.putSync({ spec: { environmentRef: { organization: 'acme', project: 'web', name: 'later' } } });
    await harness.calls();
    expect(harness.values()).toEqual({ L: '1' });
  });

  test('of others wakes those who wait for one, but not with each of its changes', async () => {
    await harness.synced({ spec: { environmentRef: { organization: 'acme', project: 'web', name: 'later' } } });
    harness.services.notify({ kind: 'environment', environmentId: 'busy', revisionId: 'r0', appeared: true });
    await harness.calls();
    for (let change = 1; change < 5; change += 1) {
      harness.services.notify({ kind: 'environment', environmentId: 'busy', revisionId: `r${change}` });
      await harness.calls();
    }
    expect(harness.reconciled).toEqual(['NotFound']);
  });

  test('that is deleted leaves the Secret as it was', async () => {
    await harness.synced();
    harness.services.environments.delete(prod);
    harness.services.notify({ kind: 'environment', environmentId: 'env', revisionId: 'env-r1', ended: true });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('NotFound');
    expect(harness.values()).toEqual(inStep);
  });

  test('that is deleted and undeleted is read again, and the Secret is not written meanwhile', async () => {
    await harness.synced();
    const before = harness.target();
    const environment = harness.services.environments.get(prod);
    harness.services.environments.delete(prod);
    harness.services.notify({ kind: 'environment', environmentId: 'env', revisionId: 'env-r1', ended: true });
    await harness.calls();
    if (environment !== undefined) harness.services.environments.set(prod, environment);
    harness.services.notify({ kind: 'environment', environmentId: 'env', revisionId: 'env-r1', appeared: true });
    await harness.calls();
    expect(harness.reconciled).toEqual(['NotFound', 'Synced']);
    expect(harness.target()).toEqual(before);
    harness.services.change(prod, { A: 'after' });
    await harness.calls();
    expect(harness.values()).toEqual({ A: 'after' });
  });

  test('in place of another takes the Secret over', async () => {
    await harness.synced();
    harness.services.create('acme/web/other', 'other', { O: '1' });
    harness.putSync({ spec: { environmentRef: { organization: 'acme', project: 'web', name: 'other' } } });
    expect(await harness.calls()).toEqual(shortestChange);
    expect(harness.values()).toEqual({ O: '1' });
    harness.services.change(prod, { A: 'x' });
    expect(await harness.calls()).toEqual([]);
    harness.services.change('acme/web/other', { O: '2' });
    await harness.calls();
    expect(harness.values()).toEqual({ O: '2' });
  });
});

describe('values in the answer of a read', () => {
  test.each<[string, SyncOptions, Record<string, string>]>([
    ['all of them', {}, { A: 'alpha', B: 'beta' }],
    ['the selected ones', { spec: { keys: { include: ['A'] } } }, { A: 'alpha' }],
    [
      'the hidden ones that a template uses',
      { spec: { keys: { hidden: ['*'] }, template: { data: { C: '$(A)!' } } } },
      { C: 'alpha!' },
    ],
  ])('go into the Secret without another request: %s', async (_, options, values) => {
    harness = new Harness({ hasValuesInAnswers: true });
    await harness.synced(options);
    expect(harness.values()).toEqual(values);
    expect(harness.ready()?.reason).toBe('Synced');
  });

  test('are as new as the observation of the Secret, whatever came between', async () => {
    harness = new Harness({ hasValuesInAnswers: true });
    await harness.synced();
    harness.services.change(prod, { A: 'newest', B: 'beta' });
    await settled();
    expect(harness.values()).toEqual({ A: 'newest', B: 'beta' });
  });

  test('are not there if the keys cannot have their names, and the refusal needs no other request', async () => {
    harness = new Harness({ hasValuesInAnswers: true });
    await harness.synced({ spec: { keys: { rename: [{ from: 'A', to: 'B' }] } } });
    expect(harness.ready()?.reason).toBe('KeyConflict');
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { prod, secrets, shortestChange } from './controller-harness.ts';
import { PinHarness, first, second, third } from './pin-harness.ts';

let harness: PinHarness;

beforeEach(() => {
  harness = new PinHarness();
});

afterEach(() => harness.controller.stop());

describe('a SecretSync pinned to a revision', () => {
  test('holds it and says so, whatever the environment does, and without another read', async () => {
    await harness.syncedWith({ revision: 2 });
    expect(harness.values()).toEqual(second);
    expect(harness.ready()).toMatchObject({
      status: 'True',
      message: 'Secret app holds revision 2 with 4 keys, pinned to that revision.',
    });
    expect(harness.status()).toMatchObject({ wantedRevision: 2, wantedRevisionId: 'env-r2', syncedRevision: 2 });
    expect(harness.source).toBe('acme/web/prod@env#revision/2');
    harness.services.reads.splice(0);
    harness.services.change(prod, { A: 'new' });
    expect(await harness.calls()).toEqual([]);
    harness.services.ready();
    expect(await harness.calls()).toEqual([]);
    expect(harness.services.reads).toEqual([]);
  });

  test('moves backwards and forwards by one write each, whatever vanishes, and follows again without the pin', async () => {
    await harness.syncedWith({ revision: 2, maxDeletedKeys: 0 });
    harness.putSync({ spec: { revision: 1, maxDeletedKeys: 0 } });
    expect(await harness.calls()).toEqual(shortestChange);
    expect(harness.values()).toEqual(first);
    await harness.pin({ revision: 3, maxDeletedKeys: 0 });
    expect(harness.values()).toEqual(third);
    await harness.pin({ revision: 2, maxDeletedKeys: 0 });
    // More edits in a row than are acted on at once.
    await harness.clock.advance(1000);
    await harness.pin({ maxDeletedKeys: 0 });
    expect(harness.values()).toEqual(third);
    expect(harness.source).toBe('acme/web/prod@env');
    // From here on it is the environment that loses.
    harness.services.change(prod, { E: '4' });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('DeletionBlocked');
    expect(harness.values()).toEqual(third);
  });

  test('that is not there yet leaves the Secret and comes when the environment comes to it', async () => {
    await harness.syncedWith({ revision: 5 });
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'RevisionNotFound' });
    expect(harness.ready()?.message).toContain('Environment acme/web/prod has no revision 5; its newest is 3.');
    expect(harness.values()).toEqual(second);
    harness.services.change(prod, { A: '4' });
    await harness.calls();
    expect(harness.ready()?.message).toContain('its newest is 4');
    harness.services.change(prod, { A: '5' }, { missed: true });
    harness.services.ready();
    await harness.calls();
    expect(harness.values()).toEqual({ A: '5' });
    harness.services.change(prod, { A: '6' });
    expect(await harness.calls()).toEqual([]);
  });

  test('that is not there any more, after the database was set back, is reported at the next comparison', async () => {
    await harness.syncedWith({ revision: 2 });
    harness.services.gone.add('env-r2');
    const environment = harness.services.environments.get(prod);
    if (environment === undefined) throw new Error('no environment');
    environment.revision = 1;
    harness.services.ready();
    await harness.calls();
    expect(harness.ready()?.reason).toBe('RevisionNotFound');
    expect(harness.values()).toEqual(second);
  });

  test('still hears that its environment ends, that its token is revoked, and that its Secret was edited', async () => {
    await harness.syncedWith({ revision: 2 });
    harness.edit((secret) => {
      secret['data'] = { ...(secret['data'] as object), A: btoa('edited') };
    });
    await harness.calls();
    expect(harness.values()).toEqual(second);
    const environment = harness.services.environments.get(prod);
    harness.services.environments.delete(prod);
    harness.services.notify({ kind: 'environment', environmentId: 'env', revisionId: 'env-r3', ended: true });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('NotFound');
    if (environment !== undefined) harness.services.environments.set(prod, environment);
    harness.services.notify({ kind: 'environment', environmentId: 'env', revisionId: 'env-r3', appeared: true });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('Synced');
    harness.services.tokens.set('kf_svc_good', 'the token was revoked; use another');
    harness.services.notify({ kind: 'service_token', serviceTokenId: 'good' });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('AuthenticationFailed');
    expect(harness.values()).toEqual(second);
  });

  test('of an environment that was purged and recreated is none of the old one', async () => {
    await harness.syncedWith({ revision: 2 });
    harness.services.create(prod, 'other', { X: '1' });
    harness.services.change(prod, { X: '2' }, { missed: true });
    harness.services.notify({ kind: 'environment', environmentId: 'env', revisionId: 'env-r3', ended: true });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('SourceReplaced');
    expect(harness.values()).toEqual(second);
  });

  test('misses no commit that comes while its pin is being taken away', async () => {
    await harness.syncedWith({ revision: 2 });
    harness.services.duringRead = () => harness.services.change(prod, { D: 'late' });
    await harness.pin({});
    expect(harness.values()).toEqual({ D: 'late' });
  });

  test('is left alone by a controller that restarts', async () => {
    await harness.syncedWith({ revision: 2 });
    await harness.controller.stop();
    const again = new PinHarness(harness);
    harness.cluster.takeCalls();
    await again.start();
    expect(again.reconciled).toEqual(['Synced']);
    expect(await again.calls()).toEqual([`GET ${secrets}/app`, `GET ${secrets}/token`]);
    await again.controller.stop();
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { Harness, prod, secrets, shortestChange, syncs } from './controller-harness.ts';

let harness: Harness;
const inStep = { A: 'alpha', B: 'beta' };

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

/** The calls besides that for the Event about a repair. */
async function calls(): Promise<string[]> {
  return (await harness.calls()).filter((call) => !call.endsWith('/events'));
}

describe('a Secret that someone else', () => {
  test('edited is looked at once and put right by one write', async () => {
    await harness.synced();
    harness.edit((secret) => {
      secret['data'] = { A: 'eA==', Z: 'eA==' };
    });
    expect(await calls()).toEqual([`GET ${secrets}/app`, ...shortestChange]);
    expect(harness.values()).toEqual(inStep);
  });

  test('emptied is filled again', async () => {
    await harness.synced();
    harness.edit((secret) => {
      delete secret['data'];
    });
    await harness.calls();
    expect(harness.values()).toEqual(inStep);
  });

  test('deleted is made again', async () => {
    await harness.synced();
    harness.cluster.remove(`${secrets}/app`);
    expect(await calls()).toEqual([`GET ${secrets}/token`, `POST ${secrets}`, `PATCH ${syncs}/app/status`]);
    expect(harness.values()).toEqual(inStep);
    expect(harness.status().target?.uid).toBe(harness.target()?.metadata.uid);
  });

  test('deleted and made again with Keyframe’s owner annotation is repaired', async () => {
    await harness.synced();
    harness.cluster.remove(`${secrets}/app`);
    harness.edit((secret) => {
      secret.metadata.labels = { 'keyframe.dev/target': 'true' };
      secret.metadata.annotations = { 'keyframe.dev/owned-by': 'app' };
      secret['type'] = 'Opaque';
    });
    await harness.calls();
    expect(harness.values()).toEqual(inStep);
  });

  test('robbed of its label is found by its name and gets the label back', async () => {
    await harness.synced();
    harness.edit(({ metadata }) => {
      metadata.labels = { mine: 'yes' };
    });
    await harness.calls();
    expect(harness.target()?.metadata.labels).toEqual({ mine: 'yes', 'keyframe.dev/target': 'true' });
    expect(harness.writes.slice(-2)).toEqual(['repair conflict', 'repair done']);
  });

  test('annotated keeps its annotation, and only the status notes the new version', async () => {
    await harness.synced();
    harness.edit(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, mine: 'yes' };
    });
    expect(await harness.calls()).toEqual([`GET ${secrets}/app`, `GET ${secrets}/token`, `PATCH ${syncs}/app/status`]);
    expect(harness.target()?.metadata.annotations).toMatchObject({ mine: 'yes' });
    expect(harness.status().target?.resourceVersion).toBe(harness.target()?.metadata.resourceVersion);
    harness.services.change(prod, { A: 'alpha2' });
    expect(await harness.calls()).toEqual(shortestChange);
    expect(harness.target()?.metadata.annotations).toMatchObject({ mine: 'yes' });
  });

  test('made immutable is recreated, after the API server was asked whether it would accept it', async () => {
    await harness.synced();
    const before = harness.target()?.metadata.uid;
    harness.edit((secret) => {
      secret['immutable'] = true;
    });
    expect(await calls()).toEqual([
      `GET ${secrets}/app`,
      `GET ${secrets}/token`,
      `POST ${secrets}?dryRun`,
      `DELETE ${secrets}/app`,
      `POST ${secrets}`,
      `PATCH ${syncs}/app/status`,
    ]);
    expect(harness.values()).toEqual(inStep);
    expect(harness.target()).not.toHaveProperty('immutable');
    expect(harness.target()?.metadata.uid).not.toBe(before);
    expect(await harness.calls()).toEqual([]);
  });

  test('changed while the controller was down is put right at the start', async () => {
    await harness.synced();
    await harness.controller.stop();
    harness.edit((secret) => {
      secret['data'] = {};
    });
    const again = new Harness(harness);
    again.controller.start();
    await again.calls();
    expect(again.values()).toEqual(inStep);
    await again.controller.stop();
  });
});

describe('a Secret of another type', () => {
  test('is recreated with the metadata that others gave it', async () => {
    await harness.synced();
    harness.edit(({ metadata }) => {
      metadata.labels = { ...metadata.labels, mine: 'yes' };
    });
    harness.services.change(prod, { username: 'x' });
    await harness.calls();
    harness.putSync({ target: { type: 'kubernetes.io/basic-auth' } });
    await harness.calls();
    expect(harness.target()).toMatchObject({ type: 'kubernetes.io/basic-auth', metadata: { labels: { mine: 'yes' } } });
  });

  test('that would not be accepted costs nothing: the old one stays', async () => {
    await harness.synced();
    harness.cluster.before(/^POST .*secrets$/, () => {
      throw new ApiError('POST', 422, 'Invalid');
    });
    harness.services.change(prod, { 'tls.crt': 'x', 'tls.key': 'y' });
    harness.putSync({ target: { type: 'kubernetes.io/tls' } });
    await harness.calls();
    expect(harness.target()).toMatchObject({ type: 'Opaque' });
    expect(harness.ready()).toMatchObject({
      status: 'False',
      reason: 'TargetRefused',
      message: expect.stringMatching(/^The API server refused Secret app \(422 Invalid\)\./),
    });
  });

  test('that the values do not fit is not asked for: the old one stays, until they do', async () => {
    await harness.synced();
    harness.putSync({ target: { type: 'kubernetes.io/tls' } });
    expect((await harness.calls()).filter((call) => /^(POST|PUT|DELETE) .*[/]secrets/.test(call))).toEqual([]);
    expect(harness.target()).toMatchObject({ type: 'Opaque' });
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'TypeUnmet' });
    harness.services.change(prod, { 'tls.crt': 'x', 'tls.key': 'y' });
    await harness.calls();
    expect(harness.target()).toMatchObject({ type: 'kubernetes.io/tls' });
    expect(harness.ready()?.reason).toBe('Synced');
  });

  test('that finalizers hold is waited for, and recreated when it is gone', async () => {
    await harness.synced();
    harness.edit(({ metadata }) => {
      metadata.finalizers = ['example.com/hold'];
    });
    harness.services.change(prod, { 'ssh-privatekey': 'x' });
    await harness.calls();
    harness.putSync({ target: { type: 'kubernetes.io/ssh-auth' } });
    await harness.calls();
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'Conflict' });
    expect(harness.ready()?.message).toContain('is being deleted and waits for its finalizers');
    harness.cluster.remove(`${secrets}/app`);
    await harness.calls();
    expect(harness.target()).toMatchObject({ type: 'kubernetes.io/ssh-auth' });
    expect(harness.target()?.metadata).not.toHaveProperty('finalizers');
    expect(harness.ready()?.reason).toBe('Synced');
    // No DriftRepaired: the controller itself deleted the Secret.
    expect(harness.cluster.events.map(({ reason }) => reason)).toEqual(['Conflict', 'Synced']);
  });
});

describe('a Secret that is not ours', () => {
  const foreign = (): void =>
    harness.edit((secret) => {
      secret['data'] = { x: 'eQ==' };
      secret['type'] = 'Opaque';
    });

  test('is left untouched, and followed by its name until it is out of the way', async () => {
    foreign();
    const before = harness.target();
    await harness.synced();
    expect(harness.target()).toEqual(before);
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'TargetNotOwned' });
    expect(harness.cluster.openWatches).toContain(`${secrets}?metadata.name=app`);
    harness.cluster.remove(`${secrets}/app`);
    await harness.calls();
    expect(harness.values()).toEqual(inStep);
    expect(harness.cluster.openWatches).not.toContain(`${secrets}?metadata.name=app`);
  });

  test('is left untouched although it has our label, before and after a change', async () => {
    harness.edit((secret) => {
      secret['data'] = { x: 'eQ==' };
      secret['type'] = 'Opaque';
      secret.metadata.labels = { 'keyframe.dev/target': 'true' };
    });
    const before = harness.target();
    await harness.synced();
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'TargetNotOwned' });
    harness.services.change(prod, { A: 'x' });
    await harness.calls();
    expect(harness.target()).toEqual(before);
  });

  test('costs no read of the environment while it is there', async () => {
    foreign();
    await harness.synced();
    harness.services.reads.splice(0);
    harness.services.change(prod, { A: 'x' });
    harness.edit((secret) => {
      secret['data'] = { x: 'eg==' };
    });
    expect(await harness.calls()).toEqual([]);
    expect(harness.services.reads).toEqual([]);
  });

  test('is left untouched when it appears between the look and the write', async () => {
    harness.cluster.before(/^POST .*secrets$/, foreign);
    await harness.synced();
    expect(harness.target()?.['data']).toEqual({ x: 'eQ==' });
    expect(harness.ready()?.reason).toBe('TargetNotOwned');
  });

  test('because its owner was changed is left untouched', async () => {
    await harness.synced();
    harness.edit(({ metadata }) => {
      metadata.annotations = { 'keyframe.dev/owned-by': 'other' };
    });
    harness.services.change(prod, { A: 'x' });
    await harness.calls();
    expect(harness.values()).toEqual(inStep);
    expect(harness.ready()?.message).toContain('belongs to the SecretSync other');
  });

  test('becomes ours as soon as its annotation says so', async () => {
    foreign();
    await harness.synced();
    harness.edit(({ metadata }) => {
      metadata.annotations = { 'keyframe.dev/owned-by': 'app' };
    });
    await harness.calls();
    expect(harness.values()).toEqual(inStep);
  });
});

describe('the labels and annotations of a spec', () => {
  const labels = { app: 'web', 'example.com/team': 'a', 'argocd.argoproj.io/secret-type': 'cluster' };
  const annotations = { 'example.com/note': 'x', 'reflector.example.org/reflects': 'true' };

  async function synced(targetMetadataPrefixes: readonly string[], target: object): Promise<void> {
    harness = new Harness({ targetMetadataPrefixes });
    await harness.synced({ target });
  }

  test.each([
    ['labels', { labels }, 'argocd.argoproj.io/secret-type'],
    ['annotations', { annotations }, 'reflector.example.org/reflects'],
  ])(
    'are refused if one of the %s begins with no allowed prefix: nothing is read or written',
    async (field, target, name) => {
      await synced(['app', 'example.com/'], target);
      expect(harness.ready()).toMatchObject({
        reason: 'InvalidSpec',
        message: expect.stringContaining(`spec.target.${field} has ${name}, but this controller allows only`),
      });
      expect(harness.services.reads).toEqual([]);
      expect(harness.target()).toBeUndefined();
    },
  );

  test('are set if all are allowed', async () => {
    await synced(['app', 'example.com/'], { labels: { app: 'web', 'example.com/team': 'a' } });
    expect(harness.target()?.metadata.labels).toMatchObject({ app: 'web', 'example.com/team': 'a' });
    expect(harness.ready()?.reason).toBe('Synced');
  });

  test('are set without a limit by default', async () => {
    await synced([], { labels, annotations });
    expect(harness.target()?.metadata.labels).toMatchObject(labels);
    expect(harness.target()?.metadata.annotations).toMatchObject(annotations);
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { OwnerReference } from '../../../src/kube/client/objects.ts';
import { ClaimsHarness, stopHarnesses } from './claims-harness.ts';
import { Harness, prod } from './controller-harness.ts';

const configMap: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', uid: 'uid-settings' };
const external: OwnerReference = {
  apiVersion: 'external-secrets.io/v1',
  kind: 'ExternalSecret',
  name: 'web',
  uid: 'uid-web',
  controller: true,
};
const inStep = { A: 'alpha', B: 'beta' };
let harness: Harness;

beforeEach(() => {
  harness = new Harness();
});

afterEach(async () => {
  await harness.controller.stop();
  await stopHarnesses();
});

/** A Secret of another owner, which consents that the SecretSync takes it over. */
function offered(...ownerReferences: OwnerReference[]): void {
  harness.edit((secret) => {
    secret['data'] = { x: 'eQ==' };
    secret['type'] = 'Opaque';
    secret.metadata.ownerReferences = ownerReferences;
    secret.metadata.annotations = { 'keyframe.dev/allow-adoption': 'app' };
  });
}

function setOwners(...ownerReferences: OwnerReference[]): void {
  harness.edit(({ metadata }) => {
    metadata.ownerReferences = ownerReferences;
  });
}

const notes = (): string[] => harness.cluster.events.map(({ reason, note }) => `${String(reason)}: ${String(note)}`);

describe('a Secret that is offered for adoption while another controller manages it', () => {
  test('stays as it is, and Ready names the controller', async () => {
    offered(configMap, external);
    const before = harness.target();
    await harness.synced();
    expect(harness.target()).toEqual(before);
    expect(harness.ready()).toMatchObject({
      reason: 'TargetNotOwned',
      message: expect.stringContaining('Secret app is controlled by ExternalSecret web,'),
    });
  });

  test('is taken over as soon as the owner reference is gone', async () => {
    offered(external);
    await harness.synced();
    setOwners();
    await harness.calls();
    expect(harness.values()).toEqual(inStep);
    expect(harness.ready()).toMatchObject({ status: 'True', message: 'Secret app holds revision 1 with 2 keys.' });
  });

  test('is taken over if it belongs to the SecretSync already', async () => {
    offered(external);
    harness.edit(({ metadata }) => {
      metadata.annotations = { 'keyframe.dev/owned-by': 'app' };
    });
    await harness.synced();
    expect(harness.values()).toEqual(inStep);
    expect(harness.ready()?.message).toContain('The Secret also belongs to ExternalSecret web,');
  });

  test('is not said to belong to the SecretSync that gives it away', async () => {
    const claims = ClaimsHarness.create();
    claims.claim({ name: 'older', environment: 'prod', second: 1 });
    await claims.start();
    claims.edit(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'keyframe.dev/allow-adoption': 'younger' };
      metadata.ownerReferences = [external];
    }, 'shared');
    claims.claim({ name: 'younger', environment: 'staging', second: 2 });
    await claims.rest();
    expect(claims.ready('younger')?.message).toContain('is controlled by ExternalSecret web,');
    expect(claims.from).toBe('prod');
  });
});

describe('another owner of a Secret', () => {
  const hint = 'The Secret also belongs to ConfigMap settings, and the garbage collector deletes it when that is gone.';

  test('is named by Ready and by one Event when the Secret is adopted', async () => {
    offered(configMap);
    await harness.synced();
    expect(harness.values()).toEqual(inStep);
    expect(harness.target()?.metadata.ownerReferences).toEqual([configMap]);
    expect(harness.ready()).toMatchObject({ status: 'True', message: expect.stringContaining(hint) });
    expect(notes()).toEqual([expect.stringContaining(`OtherOwner: ${hint}`)]);
    harness.services.change(prod, { A: 'new', B: 'beta' });
    await harness.calls();
    expect(notes()).toHaveLength(1);
  });

  test('is named when it is added later, and no longer when it is gone', async () => {
    await harness.synced();
    setOwners(configMap);
    await harness.calls();
    expect(harness.ready()?.message).toContain(hint);
    expect(notes()).toEqual([expect.stringContaining(`OtherOwner: ${hint}`)]);
    setOwners();
    await harness.calls();
    expect(harness.ready()?.message).toBe('Secret app holds revision 1 with 2 keys.');
  });

  test('keeps a Secret that goes with its SecretSync', async () => {
    await harness.synced({ target: { deletionPolicy: 'Delete' } });
    expect(harness.ready()?.message).toBe('Secret app holds revision 1 with 2 keys.');
    harness.edit(({ metadata }) => {
      metadata.ownerReferences = [...(metadata.ownerReferences ?? []), configMap];
    });
    await harness.calls();
    expect(harness.ready()?.message).toContain(
      'The Secret also belongs to ConfigMap settings, so it stays while that exists, even if this SecretSync is deleted.',
    );
  });

  test('that comes and goes causes at most one Event in ten minutes', async () => {
    await harness.synced();
    for (let count = 0; count < 3; count += 1) {
      setOwners(configMap);
      await harness.calls();
      setOwners();
      await harness.calls();
    }
    expect(notes()).toHaveLength(1);
    await harness.clock.advance(600_000);
    setOwners(configMap);
    await harness.calls();
    expect(notes()).toHaveLength(2);
  });
});

test('a Secret into which keys are merged belongs to its owner, which causes no hint', async () => {
  harness.edit((secret) => {
    secret['data'] = { x: 'eQ==' };
    secret.metadata.ownerReferences = [external];
    secret.metadata.annotations = { 'keyframe.dev/allow-merge': 'app' };
  });
  await harness.synced({ target: { creationPolicy: 'Merge' } });
  expect(harness.values()).toEqual({ ...inStep, x: 'y' });
  expect(harness.ready()?.message).toBe('Secret app holds revision 1 with 2 keys.');
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { finalizer } from '../../../src/controller/annotations.ts';
import { settled } from './fake-clock.ts';
import { TokenHarness, serviceTokensPath } from './token-harness.ts';

/** What the withdrawal of an AccessGrant means for the token of a ServiceToken, at once and without a resync. */

const path = `${serviceTokensPath}/app-token`;
let harness: TokenHarness;

beforeEach(async () => {
  harness = new TokenHarness();
  await harness.issued();
});

afterEach(() => harness.controller.stop());

function works(): boolean | undefined {
  return harness.serviceTokens.worksFor(harness.tokenUid);
}

/** Sets spec.suspend of the ServiceToken, as a user does. */
async function suspend(isSuspended: boolean): Promise<void> {
  harness.cluster.put(serviceTokensPath, 'app-token', (object) => {
    object['spec'] = { ...(object['spec'] as object), suspend: isSuspended };
  });
  await settled();
}

async function withdraw(): Promise<void> {
  harness.withdraw();
  await settled();
}

test('suspends the token until a grant covers it again', async () => {
  expect(works()).toBe(true);
  await withdraw();
  expect(works()).toBe(false);
  harness.grant();
  await settled();
  expect(works()).toBe(true);
});

describe('with spec.suspend', () => {
  test('suspends the token all the same, and lets it go on with another grant', async () => {
    await suspend(true);
    expect(works()).toBe(true);
    await withdraw();
    expect(works()).toBe(false);
    harness.grant();
    await settled();
    expect(works()).toBe(true);
  });

  test('judges by what the token may, not by what the spec asks for since', async () => {
    const change = (fields: object): void =>
      void harness.cluster.put(serviceTokensPath, 'app-token', (object) => {
        object['spec'] = { ...(object['spec'] as object), ...fields };
      });
    const grant = async (permission: string): Promise<void> => {
      harness.grant();
      harness.cluster.put('/apis/keyframe.dev/v1alpha1/accessgrants', 'team', (object) => {
        const { namespaces, rules } = object['spec'] as { namespaces: unknown; rules: readonly object[] };
        object['spec'] = { namespaces, rules: rules.map((rule) => ({ ...rule, permission })) };
      });
      await settled();
    };
    await grant('ReadWrite');
    change({ permission: 'ReadWrite' });
    await settled();
    expect(harness.serviceTokens.find(harness.tokenUid)).toMatchObject({ permission: 'read_write' });
    change({ permission: 'Read', suspend: true });
    await settled();
    await withdraw();
    await grant('Read');
    expect(works()).toBe(false);
    await suspend(false);
    await harness.clock.advance(1000);
    expect([works(), harness.serviceTokens.find(harness.tokenUid)?.permission]).toEqual([true, 'read']);
  });

  test('and without the finalizer, which is restored, the token ends with the ServiceToken', async () => {
    await suspend(true);
    harness.cluster.put(serviceTokensPath, 'app-token', ({ metadata }) => {
      metadata.finalizers = [];
    });
    await settled();
    expect(harness.cluster.get(path)?.metadata.finalizers).toEqual([finalizer]);
    const uid = harness.tokenUid;
    harness.cluster.collect(path);
    await settled();
    expect(harness.cluster.get(path)).toBeUndefined();
    expect(harness.serviceTokens.worksFor(uid)).toBe(false);
  });
});

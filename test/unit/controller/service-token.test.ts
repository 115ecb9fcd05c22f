import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { finalizer } from '../../../src/controller/annotations.ts';
import { prod, secrets } from './controller-harness.ts';
import { TokenHarness, grantsPath, serviceTokensPath } from './token-harness.ts';

/** A ServiceToken from its creation to its end, with its token and its Secret. */

const path = `${serviceTokensPath}/ci`;
let harness: TokenHarness;

beforeEach(async () => {
  harness = new TokenHarness();
  harness.services.create(prod, 'env', { A: 'alpha' });
  await harness.start();
});

afterEach(() => harness.controller.stop());

async function passed(): Promise<void> {
  await harness.clock.advance(1000);
}

/** Makes the ServiceToken under a grant; returns its value. */
async function issued(): Promise<string> {
  harness.grant();
  harness.putServiceToken('ci');
  await passed();
  expect(reason()).toBe('Issued');
  return value();
}

const uid = (): string => harness.cluster.get(path)?.metadata.uid ?? '';
const value = (): string => harness.values('ci')?.['token'] ?? '';

function reason(): string | undefined {
  const { conditions = [] } = (harness.cluster.get(path)?.['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
  };
  return conditions.find(({ type }) => type === 'Ready')?.reason;
}

/** The serials that work. */
function live(): number[] {
  const { credentials = [] } = harness.serviceTokens.find(uid()) ?? {};
  return credentials
    .filter(({ state, revokedAt }) => state === 'active' && revokedAt === null)
    .map(({ serial }) => serial);
}

function changeSpec(fields: object): void {
  harness.cluster.put(serviceTokensPath, 'ci', (object) => {
    object['spec'] = { ...(object['spec'] as object), ...fields };
  });
}

describe('a ServiceToken', () => {
  test('that a grant covers has a token that works, a Secret of its own and the finalizer', async () => {
    expect(await issued()).not.toBe('');
    expect(live()).toEqual([1]);
    expect(harness.target('ci')?.metadata).toMatchObject({
      labels: { 'keyframe.dev/token': 'true' },
      annotations: { 'keyframe.dev/owned-by-token': 'ci' },
      ownerReferences: [{ kind: 'ServiceToken', name: 'ci', uid: uid() }],
    });
    expect(harness.cluster.get(path)?.metadata.finalizers).toEqual([finalizer]);
    expect(JSON.stringify(harness.cluster.get(path))).not.toContain(value());
  });

  test('without a grant makes nothing, and is served once there is one that suffices', async () => {
    harness.putServiceToken('ci');
    changeSpec({ permission: 'ReadWrite' });
    await passed();
    expect(reason()).toBe('AccessDenied');
    // It allows reading only.
    harness.grant();
    await passed();
    expect([reason(), harness.target('ci')]).toEqual(['AccessDenied', undefined]);
    expect(harness.serviceTokens.find(uid())).toBeUndefined();
    changeSpec({ permission: 'Read' });
    await passed();
    expect([reason(), live()]).toEqual(['Issued', [1]]);
  });

  test.each<[scope: string, others: object]>([
    ['Environment', { organization: 'acme' }],
    ['Project', { organization: 'acme' }],
    ['Organization', { environmentRef: { organization: 'acme', project: 'web', name: 'prod' } }],
  ])('of scope %s that names the place of another scope makes nothing, whatever is granted', async (scope, others) => {
    harness.cluster.put(grantsPath, 'all', (object) => {
      const rules = [{ organization: 'acme', project: '*', environments: ['*'] }];
      object['spec'] = { namespaces: ['ns'], rules };
    });
    harness.putServiceToken('ci');
    changeSpec({ scope, environmentRef: undefined, ...others });
    await passed();
    expect([reason(), harness.target('ci')]).toEqual(['InvalidSpec', undefined]);
    expect(harness.serviceTokens.find(uid())).toBeUndefined();
  });

  test('whose grant is withdrawn is suspended, and goes on with the same value when it returns', async () => {
    const before = await issued();
    harness.withdraw();
    await passed();
    expect([reason(), harness.serviceTokens.worksFor(uid())]).toEqual(['AccessDenied', false]);
    harness.grant();
    await passed();
    expect([reason(), harness.serviceTokens.worksFor(uid()), value()]).toEqual(['Issued', true, before]);
  });

  test.each<[string, () => void]>([
    ['edited', () => harness.edit((secret) => void (secret['data'] = { token: 'bWluZQ==' }), 'ci')],
    ['emptied', () => harness.edit((secret) => void delete secret['data'], 'ci')],
    ['deleted', () => harness.cluster.remove(`${secrets}/ci`)],
  ])('whose Secret was %s gets the next value, and the lost one is revoked', async (_, lose) => {
    const lost = await issued();
    lose();
    await passed();
    expect([reason(), live()]).toEqual(['Issued', [2]]);
    expect(value()).not.toBe(lost);
    expect(value()).not.toBe('mine');
  });

  test('whose Secret lost its label gets it back, and keeps its value and the labels of others', async () => {
    const before = await issued();
    harness.edit(({ metadata }) => void (metadata.labels = { mine: 'yes' }), 'ci');
    await passed();
    expect(harness.target('ci')?.metadata.labels).toEqual({ mine: 'yes', 'keyframe.dev/token': 'true' });
    expect([value(), live()]).toEqual([before, [1]]);
  });

  test('leaves a Secret of another client as it is, and makes its own when that is gone', async () => {
    harness.edit((secret) => void (secret['data'] = { token: 'dGhlaXJz' }), 'ci');
    harness.grant();
    harness.putServiceToken('ci');
    await passed();
    expect([reason(), value(), harness.serviceTokens.find(uid())]).toEqual(['TargetNotOwned', 'theirs', undefined]);
    harness.cluster.remove(`${secrets}/ci`);
    await passed();
    expect([reason(), live()]).toEqual(['Issued', [1]]);
  });

  test('that is deleted is revoked before it goes, also without a grant', async () => {
    await issued();
    const gone = uid();
    harness.withdraw();
    harness.cluster.collect(path);
    await passed();
    expect(harness.cluster.get(path)).toBeUndefined();
    expect(harness.serviceTokens.worksFor(gone)).toBe(false);
  });

  test('whose token a person revoked says so, and gets no other one', async () => {
    const before = await issued();
    harness.serviceTokens.revoke(uid());
    await passed();
    expect([reason(), value()]).toEqual(['Revoked', before]);
    harness.cluster.remove(`${secrets}/ci`);
    await passed();
    expect([reason(), harness.target('ci')]).toEqual(['Revoked', undefined]);
  });

  test('that asks for another permission gets it with the same value', async () => {
    const before = await issued();
    harness.cluster.put('/apis/keyframe.dev/v1alpha1/accessgrants', 'team', (grant) => {
      const { rules } = grant['spec'] as { readonly rules: readonly object[] };
      grant['spec'] = { namespaces: ['ns'], rules: rules.map((rule) => ({ ...rule, permission: 'ReadWrite' })) };
    });
    for (const [permission, stored] of [
      ['ReadWrite', 'read_write'],
      ['Read', 'read'],
    ]) {
      changeSpec({ permission });
      await passed();
      expect([reason(), harness.serviceTokens.find(uid())?.permission, value()]).toEqual(['Issued', stored, before]);
    }
  });

  test('for an environment that does not exist waits, and is served when it appears', async () => {
    harness.grant();
    harness.putServiceToken('ci');
    changeSpec({ environmentRef: { organization: 'acme', project: 'web', name: 'later' } });
    await passed();
    expect(reason()).toBe('NotFound');
    harness.services.appear('acme/web/later', 'later');
    // A new environment causes no event for a ServiceToken, which looks again.
    await harness.clock.advance(60_000);
    expect([reason(), live()]).toEqual(['Issued', [1]]);
  });
});

describe('another client that writes a token Secret', () => {
  const notes = (): string[] =>
    harness.cluster.events.map((event) => `${String(event['reason'])}: ${String(event['note'])}`);
  const drifts = (): string[] => notes().filter((note) => note.startsWith('DriftRepaired'));
  const ownWrites = (): string[] => harness.writes.filter((write) => write.startsWith('repair'));

  test('is reported by one Event in ten minutes, and each repair is counted', async () => {
    await issued();
    for (const text of ['eA==', 'eQ==']) {
      harness.edit((secret) => {
        secret['data'] = { token: text };
      }, 'ci');
      await passed();
    }
    expect(live()).toEqual([3]);
    expect(drifts()).toEqual([
      expect.stringMatching(
        /^DriftRepaired: another wrote Secret ci: added or changed the keys token\. The controller/,
      ),
    ]);
    expect(ownWrites()).toEqual(['repair done', 'repair done']);
  });

  test('is reported if it removes the value or the annotation', async () => {
    await issued();
    harness.edit((secret) => {
      secret['data'] = {};
    }, 'ci');
    await passed();
    expect(drifts()).toEqual([expect.stringContaining('Another client wrote Secret ci: removed the keys token.')]);
    harness.edit(({ metadata }) => {
      metadata.ownerReferences = [];
    }, 'ci');
    await passed();
    expect(ownWrites()).toEqual(['repair done', 'repair done']);
  });

  test('is no drift if it deletes the Secret for a new value', async () => {
    await issued();
    harness.cluster.remove(`${secrets}/ci`);
    await passed();
    expect(live()).toEqual([2]);
    expect([drifts(), ownWrites()]).toEqual([[], []]);
  });
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceToken } from '../../src/controller/generated/service-token.ts';
import { ageToken } from '../support/cluster/resource-rows.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';
import { type WaitOptions, waitFor } from '../support/fixtures/wait-for.ts';

type Status = NonNullable<ServiceToken['status']>;

const resources = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 3 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

/** Waits until an expectation holds. */
async function until(what: string, holds: () => Promise<unknown>, options?: WaitOptions): Promise<void> {
  const look = async (): Promise<boolean> => {
    await holds();
    return true;
  };
  await waitFor(what, look, options);
}

async function waitForAnswer(site: TokenSite, token: string, status: number): Promise<void> {
  await until(`a token to be answered ${status}`, async () => expect(await site.answer(token)).toBe(status));
}

/**
 * As if the values of a ServiceToken had been made so many seconds earlier: the shortest time that a spec takes is a minute.
 * Returns when the controller has set its timer by that.
 */
async function age(site: TokenSite, seconds: number, isSeen: (status: Status) => boolean): Promise<void> {
  await ageToken(stack.databaseUrl, (await site.resource()).metadata.uid, seconds);
  await site.patch({ metadata: { annotations: { 'keyframe.dev/reconcile-at': 'now' } } });
  await until('the controller to see the age', async () => {
    expect(isSeen((await site.resource()).status ?? {})).toBe(true);
  });
}

describe('a ServiceToken', () => {
  test('that is rotated gives the next value in time and leaves the one before for the overlap', async () => {
    const site = await TokenSite.make(stack);
    await site.create({ rotation: { interval: '1m', overlap: '3s', maxOverlap: '30s' } });
    const first = await site.waitForSerial(1);
    const { rotatesAt: unaged = '' } = (await site.resource()).status ?? {};
    await age(site, 50, ({ serial, rotatesAt }) => {
      return serial === 2 || Date.parse(rotatesAt ?? '') === Date.parse(unaged) - 50_000;
    });
    // From here on it comes by its own timer.
    await until('the next value', async () =>
      expect((await site.resource()).status).toMatchObject({ serial: 2, previousSerial: 1 }),
    );
    const { issuedAt = '' } = (await site.resource()).status ?? {};
    expect(Date.parse(issuedAt)).toBeGreaterThanOrEqual(Date.parse(unaged) - 50_000);
    expect(await site.answer(first)).toBe(200);
    expect(await site.answer(await site.value())).toBe(200);
    await waitForAnswer(site, first, 401);
    await until('the status to report', async () =>
      expect((await site.resource()).status?.previousSerial).toBeUndefined(),
    );
  });

  test('that ends soon says so ahead, by a condition and a Warning, and that it has ended', async () => {
    const site = await TokenSite.make(stack);
    await site.create({ expiresIn: '1m' });
    const value = await site.waitForSerial(1);
    const { expiresAt: unaged = '' } = (await site.resource()).status ?? {};
    // It warns when a quarter of its life is left.
    await age(site, 40, ({ expiresAt }) => Date.parse(expiresAt ?? '') === Date.parse(unaged) - 40_000);
    await until('the warning, while the value still works', async () => {
      const { conditions } = (await site.resource()).status ?? {};
      const endsSoon = { type: 'Expiring', status: 'True', reason: 'EndsSoon' };
      expect(conditions).toContainEqual(expect.objectContaining(endsSoon));
      expect(conditions).toContainEqual(expect.objectContaining({ type: 'Ready', reason: 'Issued' }));
    });
    await until('its Event', async () => {
      const path = `/apis/events.k8s.io/v1/namespaces/${site.namespace}/events`;
      const { items } = await stack.kube.json<{ items: { type: string; reason: string }[] }>({ path });
      expect(items).toContainEqual(expect.objectContaining({ type: 'Warning', reason: 'Expiring' }));
    });
    await age(site, 10, ({ expiresAt }) => Date.parse(expiresAt ?? '') === Date.parse(unaged) - 50_000);
    await until('the end', async () => expect((await site.condition('Ready'))?.reason).toBe('Expired'));
    expect(await site.answer(value)).toBe(401);
    expect(await site.condition('Expiring')).toMatchObject({ status: 'True', reason: 'EndsSoon' });
    await stack.kube.json({ method: 'DELETE', path: site.secretPath() });
    await site.waitForSerial(2);
  });
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { parse } from 'yaml';
import type { ServiceToken } from '../../src/controller/generated/service-token.ts';
import { ageToken } from '../support/cluster/resource-rows.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';
import { type WaitOptions, waitFor } from '../support/fixtures/wait-for.ts';

type Status = NonNullable<ServiceToken['status']>;

const resources = new AsyncDisposableStack();
let stack: Stack;
let controller: ServerProcess;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 11 });
  controller = await stack.startController();
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

/** As if the controller had died before it activated the values of a site. */
async function unactivate({ namespace }: TokenSite): Promise<void> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    await client.query(
      `UPDATE service_token_credential c SET state = 'pending' FROM service_token t
       WHERE t.id = c.service_token_id AND t.name LIKE $1`,
      [`${namespace}/%`],
    );
  } finally {
    await client.end();
  }
}

describe('a ServiceToken', () => {
  test('without a grant makes nothing and shows the one it lacks, and is served once that is there', async () => {
    const site = await TokenSite.make(stack, { granted: false });
    await site.create({ permission: 'ReadWrite' });
    const { message, status } = await site.waitForReason('AccessDenied');
    expect(status).toBe('False');
    // What it shows can be applied as it is.
    expect(parse(message.slice(message.indexOf('apiVersion:')))).toMatchObject({
      kind: 'AccessGrant',
      spec: { namespaces: [site.namespace], rules: [{ permission: 'ReadWrite', kinds: ['ServiceToken'] }] },
    });
    expect(await site.secret()).toBeUndefined();
    await site.grant('Read');
    await site.patch({ metadata: { annotations: { 'keyframe.dev/reconcile-at': 'now' } } });
    // One that asks for less is served, so the controller knows the grant.
    await site.create({ permission: 'Read' }, 'witness');
    await site.waitForSerial(1, 'witness');
    expect((await site.condition('Ready'))?.reason).toBe('AccessDenied');
    expect(await site.secret()).toBeUndefined();
    await site.withdraw();
    await site.grant('ReadWrite');
    await site.waitForSerial(1);
  });

  test('whose Secret was edited gets the next value, and the lost one is revoked', async () => {
    const site = await TokenSite.make(stack);
    await site.create();
    const lost = await site.waitForSerial(1);
    await site.patchSecret({ data: { token: Buffer.from('mine').toString('base64') } });
    expect(await site.waitForSerial(2)).not.toBe(lost);
    expect(await site.answer(lost)).toBe(401);
  });

  test('whose Secret was deleted gets the next value, and the lost one is revoked', async () => {
    const site = await TokenSite.make(stack);
    await site.create();
    const lost = await site.waitForSerial(1);
    await stack.kube.json({ method: 'DELETE', path: site.secretPath() });
    expect(await site.waitForSerial(2)).not.toBe(lost);
    expect(await site.answer(lost)).toBe(401);
  });

  test('whose Secret lost its label gets it back and keeps its value', async () => {
    const site = await TokenSite.make(stack);
    await site.create();
    const value = await site.waitForSerial(1);
    await site.patchSecret({ metadata: { labels: { 'keyframe.dev/token': null, mine: 'yes' } } });
    await until('the label to be back', async () => {
      expect((await site.secret())?.metadata.labels).toEqual({ 'keyframe.dev/token': 'true', mine: 'yes' });
    });
    expect(await site.waitForSerial(1)).toBe(value);
  });

  test('leaves a Secret of someone else alone, and makes its own when that is gone', async () => {
    const site = await TokenSite.make(stack);
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'ci' }, stringData: { token: 'theirs' } };
    const path = `/api/v1/namespaces/${site.namespace}/secrets`;
    await stack.kube.json({ method: 'POST', path, body });
    await site.create();
    await site.waitForReason('TargetNotOwned');
    // One that is made after the first report shows what follows from that.
    await site.create({}, 'another');
    await site.waitForReason('Issued', 'another');
    expect(await site.value()).toBe('theirs');
    expect((await site.resource()).status?.tokenId).toBeUndefined();
    await stack.kube.json({ method: 'DELETE', path: site.secretPath() });
    await site.waitForSerial(1);
  });

  test('whose token was revoked over the API says that it must be recreated', async () => {
    const site = await TokenSite.make(stack);
    await site.create();
    const value = await site.waitForSerial(1);
    await site.environment.revokeToken((await site.resource()).status?.tokenId ?? '');
    await site.waitForReason('Revoked');
    expect((await site.condition('Stalled'))?.status).toBe('True');
    expect(await site.answer(value)).toBe(401);
  });

  test('that may do more, or less, does so at once with the same value', async () => {
    const site = await TokenSite.make(stack);
    await site.create();
    const value = await site.waitForSerial(1);
    const write = async (): Promise<number> =>
      (await stack.admin.as(value).send('PATCH', site.environment.path, { set: { B: 'beta' } })).status;
    expect(await write()).toBe(403);
    await site.patch({ spec: { permission: 'ReadWrite' } });
    await until('a write to be allowed', async () => expect(await write()).toBe(200));
    await site.patch({ spec: { permission: 'Read' } });
    await until('a write to be refused', async () => expect(await write()).toBe(403));
    expect(await site.value()).toBe(value);
  });

  test('for what is not there waits, and is served when it is', async () => {
    const site = await TokenSite.make(stack);
    const { organization, project } = site.environment.ref;
    const grant = { organization, project, environments: ['*'] };
    const body = { spec: { rules: [grant] } };
    const contentType = 'application/merge-patch+json';
    const path = `/apis/keyframe.dev/v1alpha1/accessgrants/${site.grantName}`;
    await stack.kube.json({ method: 'PATCH', path, contentType, body });
    await site.create({ environment: 'later' });
    await site.waitForReason('NotFound');
    await stack.admin.call('POST', `/environments/${organization}/${project}`, { slug: 'later' });
    await site.waitForReason('Issued');
  });

  test('whose value was in the Secret when the controller died gets it activated; one that was not there is recreated', async () => {
    const site = await TokenSite.make(stack);
    await site.create({}, 'sent');
    await site.create({}, 'unsent');
    const sent = await site.waitForSerial(1, 'sent');
    const unsent = await site.waitForSerial(1, 'unsent');
    await controller.stop();
    await unactivate(site);
    expect(await site.answer(sent)).toBe(401);
    await site.patchSecret({ data: null }, 'unsent');
    controller = await stack.startController();
    expect(await site.waitForSerial(1, 'sent')).toBe(sent);
    expect(await site.waitForSerial(1, 'unsent')).not.toBe(unsent);
    expect(await site.answer(unsent)).toBe(401);
  });

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

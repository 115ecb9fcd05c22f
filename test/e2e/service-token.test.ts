/** @default A ServiceToken gives a token that works, as long as a grant covers it, and takes it along when it is deleted. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 3 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

describe('a ServiceToken', () => {
  test('that a grant covers puts a token that works into its Secret', async () => {
    const site = await TokenSite.make(stack);
    await site.create({ expiresIn: '720h' });
    await site.waitForSerial(1);
    const { metadata, status } = await site.resource();
    expect(metadata.finalizers).toEqual(['keyframe.dev/cleanup']);
    expect(status).toMatchObject({ secretName: 'ci', serial: 1, observedGeneration: 1 });
    const life = Date.parse(status?.expiresAt ?? '') - Date.parse(status?.issuedAt ?? '');
    expect(Math.abs(life - 720 * 3_600_000)).toBeLessThan(60_000);
    expect((await site.condition('Expiring'))?.status).toBe('False');
    const secret = await site.secret();
    expect(secret?.metadata).toMatchObject({
      labels: { 'keyframe.dev/token': 'true' },
      annotations: { 'keyframe.dev/owned-by-token': 'ci' },
      ownerReferences: [{ kind: 'ServiceToken', name: 'ci', uid: metadata.uid }],
    });
    expect(Object.keys(secret?.data ?? {})).toEqual(['token']);
    expect(JSON.stringify(await site.resource())).not.toContain(await site.value());
  });

  test('whose grant is withdrawn is suspended, and goes on with the same value when it returns', async () => {
    const site = await TokenSite.make(stack);
    await site.create();
    const value = await site.waitForSerial(1);
    await site.withdraw();
    await site.waitForReason('AccessDenied');
    await waitFor('the token to be refused', async () => (await site.answer(value)) === 401);
    await site.grant();
    expect(await site.waitForSerial(1)).toBe(value);
  });

  test('that is deleted takes its Secret along, and its token opens nothing any more', async () => {
    const site = await TokenSite.make(stack);
    await site.create();
    const value = await site.waitForSerial(1);
    // Revoking needs no grant.
    await site.withdraw();
    await site.delete();
    await waitFor(
      'the ServiceToken to be gone',
      async () => (await stack.kube.find({ path: site.tokenPath() })) === undefined,
    );
    expect(await site.answer(value)).toBe(401);
  });
});

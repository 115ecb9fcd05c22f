/** @default A ServiceToken gives a token that works, as long as a grant covers it, and takes it along when it is deleted. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ServiceAccountTokens } from '../support/cluster/service-account-tokens.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 5 });
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

describe('a ServiceToken with serviceAccountNames', () => {
  test('is proven by JWTs of these accounts alone, as long as it has a grant and exists', async () => {
    const accounts = new ServiceAccountTokens(stack);
    const site = await TokenSite.make(stack);
    const { namespace } = site;
    const other = stack.takeNamespace();
    for (const [place, name] of [
      [namespace, 'ci'],
      [namespace, 'web'],
      [other, 'ci'],
    ] as const)
      await accounts.create(place, name);
    await site.create({ serviceAccountNames: ['ci'] }, 'deploy');
    await site.waitForReason('Issued', 'deploy');
    const { audience = '', secretName } = (await site.resource('deploy')).status ?? {};
    expect(audience).toMatch(new RegExp(`^keyframe/[a-z2-7]{26}/clusters/[^/]+/${namespace}/deploy$`));
    expect([secretName, await site.secret('deploy')]).toEqual([undefined, undefined]);
    const jwt = await accounts.sign(namespace, 'ci', audience);
    expect(await site.answer(jwt)).toBe(200);

    // Another account, another namespace, another ServiceToken, and the audience of the API server itself.
    expect(await site.answer(await accounts.sign(namespace, 'web', audience))).toBe(401);
    expect(await site.answer(await accounts.sign(other, 'ci', audience))).toBe(401);
    expect(await site.answer(await accounts.sign(namespace, 'ci', `${audience}-2`))).toBe(401);
    expect(await site.answer(await accounts.sign(namespace, 'ci', 'https://kubernetes.default.svc'))).toBe(401);

    await site.withdraw();
    await site.waitForReason('AccessDenied', 'deploy');
    await waitFor('the JWT to be refused', async () => (await site.answer(jwt)) === 401);
    await site.grant();
    await site.waitForReason('Issued', 'deploy');
    await waitFor('the same JWT to work again', async () => (await site.answer(jwt)) === 200);

    // JWTs are checked without the API server: until it expires, one outlives its pod and its account.
    const ofPod = await accounts.signForPod(namespace, 'ci', audience);
    await accounts.delete(namespace, 'ci');
    expect([await site.answer(jwt), await site.answer(ofPod)]).toEqual([200, 200]);

    await site.delete('deploy');
    const gone = async (): Promise<boolean> =>
      (await stack.kube.find({ path: site.tokenPath('deploy') })) === undefined;
    await waitFor('the ServiceToken to be gone', gone);
    expect(await site.answer(jwt)).toBe(401);

    // Created again, it has the same audience.
    await site.create({ serviceAccountNames: ['ci'] }, 'deploy');
    await site.waitForReason('Issued', 'deploy');
    expect((await site.resource('deploy')).status?.audience).toBe(audience);
    expect(await site.answer(jwt)).toBe(200);
  });
});

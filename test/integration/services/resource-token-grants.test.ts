import { beforeEach, describe, expect, test } from '@jest/globals';
import { connectLocally } from '../../../src/compose/local-backend.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { authenticated, type TestServices, type World } from '../../support/api/services.ts';
import { ruleFor, TokenResource } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let own: TokenResource;

withWorlds((given) => ({ services, world } = given));

beforeEach(() => {
  own = new TokenResource(services, world);
});

describe('without its grant', () => {
  test('no token is minted, and the refusal shows the AccessGrant that is missing', async () => {
    own.grants = [ruleFor(world, { permission: 'read' })];
    await expect(own.mint()).rejects.toMatchObject({
      code: 'forbidden',
      detail: expect.stringMatching(
        /ServiceToken team-a\/ci needs ReadWrite on environment .* to namespace team-a for ServiceToken\. .*kind: AccessGrant/su,
      ),
    });
    expect(await own.find()).toBeUndefined();
    const entry = await prismaOf(services.database).auditEntry.findFirst({
      where: { actorId: own.caller.principal.id },
    });
    expect(entry).toMatchObject({
      action: 'service_token.create',
      outcome: 'denied',
      organizationId: null,
      label: '[Service Token]',
    });
  });

  test('no caller learns what exists', async () => {
    own.grants = [];
    const environment = 'no-such-thing';
    const refusals = await Promise.all(
      [own.asked(), { ...own.asked(), environment }, { ...own.asked(), organization: environment }].map((place) =>
        services.resourceAccess.mayMint(own.caller, place).catch(({ code }: { code: unknown }) => code),
      ),
    );
    expect(refusals).toEqual(['forbidden', 'forbidden', 'forbidden']);
  });

  test('a place that is granted and not there is not found; a malformed slug is refused unrepeated', async () => {
    own.grants = [ruleFor(world, { project: '*', environments: ['*'] })];
    const absent = { ...own.asked(), environment: 'none' };
    await expect(services.resourceAccess.mayMint(own.caller, absent)).rejects.toMatchObject({ code: 'not_found' });
    for (const environment of ['*', 'S3CRET', '']) {
      const refusal = services.resourceAccess.mayMint(own.caller, { ...own.asked(), environment });
      await expect(refusal).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });

  test('a grant that goes while a token is minted rolls the token back', async () => {
    const access = await services.resourceAccess.mayMint(own.caller, own.asked());
    own.grants = [];
    const minting = services.resourceTokens.mint(access, { name: 'late', serial: 1, expiresAt: null });
    await expect(minting).rejects.toMatchObject({ code: 'forbidden' });
    expect(await own.find()).toBeUndefined();
  });

  test('an environment that is deleted meanwhile rolls the token back', async () => {
    const access = await services.resourceAccess.mayMint(own.caller, own.asked());
    await services.environments.delete(await world.onEnvironment(world.owner.caller, 'environment.delete'));
    const minting = services.resourceTokens.mint(access, { name: 'late', serial: 1, expiresAt: null });
    await expect(minting).rejects.toMatchObject({ code: 'not_found' });
    expect(await own.find()).toBeUndefined();
  });

  test('of a deleted environment is refused with what takes the deletion back, and without a grant says nothing of it', async () => {
    await services.environments.delete(await world.onEnvironment(world.owner.caller, 'environment.delete'));
    await expect(services.resourceAccess.mayMint(own.caller, own.asked())).rejects.toMatchObject({
      code: 'not_found',
      detail: expect.stringMatching(/does not exist: it was deleted at .*`keyframe env undelete /),
    });
    own.grants = [];
    await expect(services.resourceAccess.mayMint(own.caller, own.asked())).rejects.toMatchObject({
      code: 'forbidden',
      detail: expect.not.stringContaining('deleted'),
    });
  });

  test('a token is suspended and resumed, and revoked without one', async () => {
    const made = await own.minted();
    await own.suspend();
    expect(await own.opens(made)).toBe('suspended');
    await expect(services.authentication.authenticate(made.token.reveal())).rejects.toMatchObject({
      code: 'unauthenticated',
      detail: expect.stringContaining('suspended: the AccessGrant that carried it was withdrawn'),
    });
    expect((await own.find())?.suspendedAt).toBeInstanceOf(Date);
    own.grants = [];
    await expect(own.resume()).rejects.toMatchObject({ code: 'forbidden' });
    own.grants = [ruleFor(world)];
    await own.resume();
    expect(await own.opens(made)).toBe('opens');
    own.grants = [];
    await own.suspend();
    await own.revoke();
    expect(await own.opens(made)).toBe('revoked');
    const actions = (await own.auditOf(made.tokenId)).map(({ action, label }) => `${action} ${label}`);
    expect(actions.slice(2)).toEqual([
      'service_token.suspend [Service Token]',
      'service_token.resume [Service Token]',
      'service_token.suspend [Service Token]',
      'service_token.revoke [Service Token]',
    ]);
  });

  test('a narrower grant does not resume a token that may more', async () => {
    const made = await own.minted();
    await own.suspend();
    own.grants = [ruleFor(world, { permission: 'read' })];
    await expect(own.resume('read')).rejects.toMatchObject({ code: 'conflict' });
    const access = await services.resourceAccess.token(own.caller, 'service_token.update', own.asked('read'));
    await services.resourceTokens.update(access);
    await own.resume('read');
    expect((await authenticated(services, made.token)).principal).toMatchObject({ permission: 'read' });
  });
});

describe('a change under way', () => {
  test.each(['suspended', 'narrowed', 'revoked'] as const)(
    'with a token that is %s meanwhile is rolled back',
    async (how) => {
      const made = await own.minted();
      const caller = await authenticated(services, made.token);
      const access = await world.onEnvironment(caller, 'secret.write');
      if (how === 'suspended') await own.suspend();
      else if (how === 'revoked') await own.revoke();
      else {
        const update = await services.resourceAccess.token(own.caller, 'service_token.update', own.asked('read'));
        await services.resourceTokens.update(update);
      }
      const writing = services.secrets.put(access, 'KEY', { value: new Plaintext('late') });
      await expect(writing).rejects.toMatchObject({ code: 'unauthenticated' });
      const read = await world.onEnvironment(world.owner.caller, 'secret.list');
      expect((await services.secrets.list(read)).secrets).toEqual([]);
    },
  );

  test('is seen by a comparison of credentials', async () => {
    const made = await own.minted();
    const { principal } = await authenticated(services, made.token);
    const isLive = async (): Promise<boolean> => {
      const { liveCredentials } = await connectLocally(services)(() => 'test').changes.compare({
        credentialIds: [principal.credentialId],
      });
      return liveCredentials.has(principal.credentialId);
    };
    expect(await isLive()).toBe(true);
    await own.suspend();
    expect(await isLive()).toBe(false);
    await own.resume();
    expect(await isLive()).toBe(true);
  });
});

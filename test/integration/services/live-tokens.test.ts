import { expect, test } from '@jest/globals';
import type { LiveToken, LiveTokensPage } from '../../../src/domain/resources/tokens.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { TokenResource } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;

withWorlds((given) => ({ services, world } = given));

/** A token that works and was made so many minutes ago. */
async function tokenOfAge(minutes: number): Promise<TokenResource> {
  const own = new TokenResource(services, world);
  const { tokenId } = await own.minted({ permission: 'read' });
  await prismaOf(services.database).serviceToken.update({
    where: { id: tokenId },
    data: { createdAt: new Date(Date.now() - minutes * 60_000) },
  });
  return own;
}

async function live(cluster = 'test', namespaces: readonly string[] | null = null): Promise<LiveToken[]> {
  const tokens: LiveToken[] = [];
  let after: string | null = null;
  do {
    const page: LiveTokensPage = await services.resourceTokens.live(cluster, { namespaces, after });
    expect(page.tokens.length).toBeLessThanOrEqual(1000);
    tokens.push(...page.tokens);
    after = page.next;
  } while (after !== null);
  return tokens.filter(({ organization }) => organization === world.slugs.organization);
}

const uidOf = ({ caller }: TokenResource): string => caller.principal.id;

test('live tokens are listed with their resource, place and permission, and only those made five minutes ago', async () => {
  const old = await tokenOfAge(6);
  await tokenOfAge(4);
  expect(await live()).toEqual([
    { uid: uidOf(old), name: 'ServiceToken team-a/ci', namespace: 'team-a', permission: 'read', ...world.slugs },
  ]);
  expect(await live('another')).toEqual([]);
});

test('all live tokens of some namespaces are listed, however new they are', async () => {
  const made = [await tokenOfAge(6), await tokenOfAge(0)];
  const uids = async (namespaces: readonly string[]): Promise<string[]> =>
    (await live('test', namespaces)).map(({ uid }) => uid);
  expect(await uids(['team-b', 'team-a'])).toEqual(made.map(uidOf).toSorted());
  expect(await uids(['team-b'])).toEqual([]);
  expect(await uids([])).toEqual([]);
});

test('what opens nothing is not among them', async () => {
  const [works, suspended, revoked, replaced] = await Promise.all([6, 6, 6, 6].map(tokenOfAge));
  await suspended?.suspend();
  await revoked?.revoke();
  await replaced?.revokeSerial(1);
  await replaced?.mint({ serial: 2, permission: 'read' });
  expect((await live()).map(({ uid }) => uid)).toEqual([works === undefined ? '' : uidOf(works)]);
  await services.environments.delete(await world.onEnvironment(world.owner.caller, 'environment.delete'));
  expect(await live()).toEqual([]);
});

test('more than a page of them are all listed, each once', async () => {
  const own = await tokenOfAge(6);
  const { database } = services;
  const found = await own.find();
  // Claims of other resources on one token: a page has a thousand.
  await prismaOf(database).resourceClaim.createMany({
    data: Array.from({ length: 2000 }, () => ({
      ...claimOf(resourceCaller({ kind: 'ServiceToken', name: 'more' }).principal),
      organizationId: world.organization.id,
      serviceTokenId: found?.tokenId ?? null,
    })),
  });
  const uids = (await live()).map(({ uid }) => uid);
  expect(uids).toHaveLength(2001);
  expect(new Set(uids).size).toBe(2001);
});

function claimOf({ id, cluster, kind, namespace, name }: ReturnType<typeof resourceCaller>['principal']): {
  uid: string;
  cluster: string;
  kind: string;
  namespace: string | null;
  name: string;
  operation: string;
  serial: number;
} {
  return { uid: id, cluster, kind, namespace, name, operation: 'token', serial: 1 };
}

test('suspending returns whether it changed anything, and the audit says why', async () => {
  const own = await tokenOfAge(6);
  const access = await services.resourceAccess.owner(own.caller, 'service_token.suspend');
  expect(await services.resourceTokens.suspend(access, 'resource_gone')).toBe(true);
  expect(await services.resourceTokens.suspend(access, 'resource_gone')).toBe(false);
  const entries = await own.auditOf((await own.find())?.tokenId ?? '');
  const suspensions = entries.filter(({ action }) => action === 'service_token.suspend');
  expect(suspensions).toMatchObject([{ label: '[Service Token]', target: { cause: 'resource_gone' } }]);
});

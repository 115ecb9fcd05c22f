import { beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ResourceCaller } from '../../../src/domain/principal.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { TokenResource } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { putClusterIssuer } from '../../support/database/cluster-issuer.ts';
import { prismaOf } from '../../support/database/prisma.ts';

/** Tokens of ServiceTokens that JWTs of ServiceAccounts prove. */

let services: TestServices;
let world: World;
let own: TokenResource;
/** A cluster of this test. */
let cluster: string;

withWorlds((given) => ({ services, world } = given));

beforeEach(async () => {
  cluster = `cluster-${randomUUID()}`;
  own = new TokenResource(services, world);
  await putClusterIssuer(services.database.pool, cluster);
});

interface Wanted {
  readonly serial?: number;
  readonly caller?: ResourceCaller;
  readonly serviceAccountNames?: readonly string[];
  readonly expiresAt?: Date | null;
}

/** The ServiceToken team-a/ci, or another object of this name. */
function resource(uid: string = randomUUID(), of = cluster): ResourceCaller {
  return resourceCaller({ kind: 'ServiceToken', grantsNow: () => own.grants, name: 'ci', cluster: of, uid });
}

async function federate({ serial = 1, caller = resource(), expiresAt = null, ...more }: Wanted = {}): Promise<void> {
  const access = await services.resourceAccess.mayMint(caller, own.asked());
  const { serviceAccountNames = ['ci'] } = more;
  await services.resourceTokens.federate(access, { name: 'team-a/ci', serial, expiresAt, serviceAccountNames });
}

/** The serials that JWTs prove, each with its audience. */
async function proven(caller: ResourceCaller): Promise<(readonly [number, string])[]> {
  const { credentials = [] } = (await own.find(caller)) ?? {};
  return credentials.flatMap(({ serial, audience }) => (audience === null ? [] : [[serial, audience] as const]));
}

async function audienceIn(of = cluster): Promise<string> {
  const { id } = await prismaOf(services.database).instance.findFirstOrThrow();
  return `keyframe/${id}/clusters/${of}/team-a/ci`;
}

describe('a federated token of a ServiceToken', () => {
  test('is proven by the accounts of its namespace, with the audience of its name', async () => {
    const caller = resource();
    await federate({ caller, serviceAccountNames: ['ci', 'web.batch'] });
    expect(await proven(caller)).toEqual([[1, await audienceIn()]]);
    const { tokenId } = (await own.find(caller)) ?? { tokenId: '' };
    const rows = await prismaOf(services.database).serviceTokenFederation.findMany({ where: { issuerName: cluster } });
    expect(rows).toMatchObject([
      {
        claims: { sub: ['system:serviceaccount:team-a:ci', 'system:serviceaccount:team-a:web.batch'] },
        generation: 1,
        endedAt: null,
      },
    ]);
    const [entry] = await own.auditOf(tokenId);
    expect(entry).toMatchObject({
      action: 'service_token.create',
      outcome: 'success',
      target: { name: 'team-a/ci', serial: 1, serviceAccountNames: ['ci', 'web.batch'] },
    });
  });

  test('works at once, has a value that no text has, and ends with its expiry', async () => {
    const caller = resource();
    const expiresAt = new Date(Date.now() + 3_600_000);
    await federate({ caller, expiresAt });
    expect(await own.find(caller)).toMatchObject({
      permission: 'read_write',
      suspendedAt: null,
      credentials: [{ serial: 1, state: 'active', expiresAt }],
    });
  });

  test('is not made without a grant, or before the issuer of the cluster is known', async () => {
    const unknown = resource(randomUUID(), `unknown-${cluster}`);
    await expect(federate({ caller: unknown })).rejects.toMatchObject({ code: 'issuer_unknown' });
    expect(await own.find(unknown)).toBeUndefined();
    own.grants = [];
    await expect(federate()).rejects.toMatchObject({ code: 'forbidden' });
  });

  test.each<[what: string, names: readonly string[]]>([
    ['no account', []],
    ['more accounts than ten', Array.from({ length: 11 }, (_, index) => `account-${index}`)],
    ['an account of another namespace', ['team-b:ci']],
    ['a name that none has', ['CI']],
  ])('is refused for %s', async (_, serviceAccountNames) => {
    await expect(federate({ serviceAccountNames })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('is made once for each serial', async () => {
    const caller = resource();
    await federate({ caller });
    await expect(federate({ caller })).rejects.toMatchObject({ code: 'conflict' });
    expect(await proven(caller)).toEqual([[1, await audienceIn()]]);
  });

  test('has its audience with the next serial, and no longer with the one before', async () => {
    const caller = resource();
    await federate({ caller });
    const access = await services.resourceAccess.owner(caller, 'service_token.revoke');
    await services.resourceTokens.revokeSerial(access, 1);
    await federate({ caller, serial: 2 });
    expect(await proven(caller)).toEqual([[2, await audienceIn()]]);
  });

  test('gives its audience to the ServiceToken that is created again under its name', async () => {
    const [former, later] = [resource(), resource()];
    await federate({ caller: former });
    await own.revoke(former);
    await federate({ caller: later });
    expect([await proven(former), await proven(later)]).toEqual([[], [[1, await audienceIn()]]]);
  });

  test('that was not revoked gives its audience to a later ServiceToken, and never gets it back', async () => {
    const [former, later] = [resource(), resource()];
    await federate({ caller: former });
    await federate({ caller: later });
    expect([await proven(former), await proven(later)]).toEqual([[], [[1, await audienceIn()]]]);
    await expect(federate({ caller: former, serial: 2 })).rejects.toMatchObject({ code: 'conflict' });
    expect(await proven(later)).toEqual([[1, await audienceIn()]]);
  });

  test('has another audience in another cluster', async () => {
    const other = `other-${cluster}`;
    await putClusterIssuer(services.database.pool, other);
    const [here, there] = [resource(), resource(randomUUID(), other)];
    await federate({ caller: here });
    await federate({ caller: there });
    expect([await proven(here), await proven(there)]).toEqual([
      [[1, await audienceIn()]],
      [[1, await audienceIn(other)]],
    ]);
  });

  test('counts as proven by nothing once a person changed the issuer', async () => {
    const caller = resource();
    await federate({ caller });
    await prismaOf(services.database).trustedIssuer.update({ where: { cluster }, data: { generation: 2 } });
    expect(await proven(caller)).toEqual([]);
    await federate({ caller, serial: 2 });
    expect(await proven(caller)).toEqual([[2, await audienceIn()]]);
  });
});

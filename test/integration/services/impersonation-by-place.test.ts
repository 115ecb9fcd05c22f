import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import type { CreatedPersonalToken } from '../../../src/services/tokens/personal-tokens.ts';
import { outcomeOf } from '../../support/api/outcome.ts';
import { type BoundUser, RoleCalls } from '../../support/api/role-calls.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { authenticated, createUser, type TestServices, type World } from '../../support/api/services.ts';
import { userCalls } from '../../support/api/user-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';

let services: TestServices;
let world: World;
let roles: RoleCalls;
/** A user without a membership, and a token for them that an instance admin created. */
let user: BoundUser;
let given: Caller;

withWorlds((made) => ({ services, world } = made));

beforeEach(async () => {
  roles = new RoleCalls(services, world);
  user = await roles.user('environment', 'viewer');
  const root = await createUser(services, { instanceAdmin: true });
  given = await presented(await userCalls(services, root.caller).createToken(user.id, { name: 'given' }));
});

async function presented({ token }: CreatedPersonalToken): Promise<Caller> {
  return authenticated(services, token);
}

/** A token that the user creates with the given one. */
async function derived(): Promise<Caller> {
  const access = await services.access.person(given, 'personal_token.create');
  return presented(await services.personalTokens.create(access, { name: 'derived' }));
}

async function forbid(): Promise<void> {
  const access = await world.onOrganization(world.owner.caller, 'organization.set_impersonation');
  await services.organizations.setImpersonation(access, true);
}

const read = (caller: Caller): Promise<string> => outcomeOf(secretCalls(services, world, caller).read());

describe('in an organization that forbids impersonation, a user with a role by place', () => {
  test('finds the way there with the tokens that were theirs before, and with no other', async () => {
    const early = await derived();
    await forbid();
    const late = await derived();
    const way = async (caller: Caller): Promise<unknown> => [
      await outcomeOf(world.onOrganization(caller, 'project.list')),
      await outcomeOf(world.onProject(caller, 'environment.list')),
      await read(caller),
    ];
    expect(await way(user.caller)).toEqual(['done', 'done', 'done']);
    expect(await way(early)).toEqual(['done', 'done', 'done']);
    for (const caller of [late, given]) expect(await way(caller)).toEqual(['forbidden', 'forbidden', 'forbidden']);
  });

  test('gets no other token accepted by an equal role above, whatever the ids of the two are', async () => {
    await forbid();
    const late = await derived();
    await roles.set('project', world.owner.caller, { id: user.id }, 'viewer');
    const { pool } = services.database;
    for (const id of [`00000000-${user.id.slice(9)}`, `ffffffff-${user.id.slice(9)}`]) {
      await pool.query('UPDATE role_binding SET id = $1 WHERE user_id = $2 AND environment_id IS NULL', [id, user.id]);
      expect(await read(late)).toBe('forbidden');
      expect(await read(user.caller)).toBe('done');
    }
  });
});

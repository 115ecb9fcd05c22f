import type { Caller } from '../../../src/domain/principal.ts';
import type { CreatedPersonalToken, PersonalTokenInput } from '../../../src/services/tokens/personal-tokens.ts';
import type { CreatedUser, CreateUserInput, UpdateUserInput, UserRecord } from '../../../src/services/people/users.ts';
import { prismaOf } from '../database/prisma.ts';
import type { TestServices } from './services.ts';

/** Calls on the users of an instance, each authorised for itself as by an edge. */
export interface UserCalls {
  create(input: CreateUserInput): Promise<CreatedUser>;
  get(id: string): Promise<UserRecord>;
  update(id: string, changes: UpdateUserInput): Promise<UserRecord>;
  createToken(id: string, input: PersonalTokenInput): Promise<CreatedPersonalToken>;
  endTokens(id: string): Promise<void>;
}

export function userCalls({ users, access }: Pick<TestServices, 'users' | 'access'>, caller: Caller): UserCalls {
  return {
    create: async (input) => users.create(await access.instance(caller, 'user.create'), input),
    get: async (id) => users.get(await access.instance(caller, 'user.read'), id),
    update: async (id, changes) => users.update(await access.instance(caller, 'user.update'), id, changes),
    createToken: async (id, input) => users.createToken(await access.instance(caller, 'user.update'), id, input),
    endTokens: async (id) => users.endTokens(await access.instance(caller, 'user.update'), id),
  };
}

/** The audit rows about a user, oldest first. */
export async function auditedOfUser(
  { database }: Pick<TestServices, 'database'>,
  userId: string,
): Promise<readonly { readonly target: unknown }[]> {
  const where = { target: { path: ['userId'], equals: userId } };
  return prismaOf(database).auditEntry.findMany({ where, orderBy: { id: 'asc' } });
}

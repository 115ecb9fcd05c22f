import { useMemo } from 'react';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import { type ApiError, api } from './client.ts';
import { useMembers } from './members.ts';
import { tokenHomes, useServiceTokens } from './service-tokens.ts';

/** The names of users and service tokens, by id. */
export type ActorNames = ReadonlyMap<string, string>;

/** Who may have acted in an organization; what loads is missing. */
export function useActorNames(organization: string, enabled: boolean): ActorNames {
  const members = useMembers(organization, { enabled }).data;
  const homes = enabled ? tokenHomes(organization, { isAdmin: true, projects: [] }) : [];
  const tokens = useServiceTokens(organization, homes).data;
  return useMemo(
    () =>
      new Map([
        ...(members ?? []).map(({ userId, email }) => [userId, email] as const),
        ...(tokens ?? []).map(({ id, name }) => [id, name] as const),
      ]),
    [members, tokens],
  );
}

/** The users of the instance, for instance admins; none while they load. */
export function useUserNames(enabled: boolean): ActorNames {
  const { data } = useQuery<ActorNames, ApiError>({
    queryKey: ['user-names'],
    queryFn: async () => {
      const { users } = (await call(api, 'GET /users')).body;
      return new Map(users.map(({ id, email }) => [id, email]));
    },
    enabled,
  });
  return data ?? none;
}

const none: ActorNames = new Map();

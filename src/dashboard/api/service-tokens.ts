import {
  type QueryKey,
  type UseMutationResult,
  type UseQueryResult,
  queryOptions,
  useQuery,
} from '@tanstack/react-query';
import type { CreatedServiceTokenView, ServiceTokenListView, ServiceTokenView } from '../../wire/service-tokens.ts';
import type { MeView } from '../../wire/me.ts';
import type { AdminOf } from '../text/admin-of.ts';
import { type ApiError, callApi } from './client.ts';
import { useChange } from './use-change.ts';
import { useOnce } from './use-once.ts';

/** A service token, with the path below which the user manages it. */
export interface ListedToken extends ServiceTokenView {
  readonly home: string;
}

const pollMs = 60_000;

function keyOf(organization: string): QueryKey {
  return ['service-tokens', organization];
}

function tokensQuery(organization: string, homes: readonly string[]) {
  return queryOptions<readonly ListedToken[], ApiError>({
    queryKey: [...keyOf(organization), ...homes],
    queryFn: async () => {
      const lists = await Promise.all(homes.map((home) => callApi<ServiceTokenListView>(home)));
      return lists
        .flatMap(({ serviceTokens }, index) => serviceTokens.map((token) => ({ ...token, home: homes[index] ?? '' })))
        .toSorted((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt));
    },
    // They become used.
    refetchInterval: pollMs,
  });
}

/** Where a user manages service tokens: of the organization, or of single projects. */
export function tokenHomes(organization: string, { isAdmin, projects }: AdminOf): readonly string[] {
  if (isAdmin) return [`/service-tokens/${organization}`];
  return projects.map((project) => `/projects/${organization}/${project}/service-tokens`);
}

/** The service tokens that a user administers, newest first. */
export function useServiceTokens(
  organization: string,
  homes: readonly string[],
): UseQueryResult<readonly ListedToken[], ApiError> {
  return useQuery({ ...tokensQuery(organization, homes), enabled: homes.length > 0 });
}

export interface NewToken {
  readonly home: string;
  readonly name: string;
  readonly scope: ServiceTokenView['scope'];
  /** Of project scope. */
  readonly projectId?: string;
  /** Of environment scope. */
  readonly environmentId?: string;
  readonly permission: ServiceTokenView['permission'];
  /** Without it the server chooses the latest end that it allows. */
  readonly expiresInDays?: number;
}

/** A token that was created. If only a lost response had its value, there is none. */
export type CreatedToken = CreatedServiceTokenView | (ServiceTokenView & { readonly token?: undefined });

/** Creates a service token. The first response has its value, and no later one has. */
export function useCreateToken(organization: string): UseMutationResult<CreatedToken, ApiError, NewToken> {
  const once = useOnce();
  return useChange((token: NewToken) => {
    const { home, ...body } = token;
    return once(token, (idempotencyKey) => callApi<CreatedToken>(home, { method: 'POST', body, idempotencyKey }));
  }, keyOf(organization));
}

type FoundToken = Extract<MeView, { type: 'service_token' }>;

/**
 * Asks the server which service token a value is. The value is sent once, in a header. It counts as a use of the token.
 *
 * @throws ApiError with status 401 if the value is not valid, or no longer
 */
export function findServiceToken(value: string): Promise<FoundToken> {
  return callApi<FoundToken>('/me', { token: value });
}

export interface Rotation {
  readonly token: ListedToken;
  /** How long the former value stays valid. */
  readonly overlapSeconds: number;
}

/** Gives a service token another value. The response has it, and no later one has. */
export function useRotateToken(organization: string): UseMutationResult<CreatedServiceTokenView, ApiError, Rotation> {
  return useChange(
    ({ token: { home, id }, overlapSeconds }) =>
      callApi<CreatedServiceTokenView>(`${home}/${id}/rotate`, { method: 'POST', body: { overlapSeconds } }),
    keyOf(organization),
  );
}

/** Ends the access of a service token at once. */
export function useRevokeToken(organization: string): UseMutationResult<void, ApiError, ListedToken> {
  return useChange(({ home, id }) => callApi(`${home}/${id}`, { method: 'DELETE' }), keyOf(organization));
}

/** Lifts the revocation of a keyless service token. */
export function useReinstateToken(organization: string): UseMutationResult<ServiceTokenView, ApiError, ListedToken> {
  return useChange(
    ({ home, id }) => callApi<ServiceTokenView>(`${home}/${id}/reinstate`, { method: 'POST' }),
    keyOf(organization),
  );
}

import {
  type QueryKey,
  type UseMutationResult,
  type UseQueryResult,
  queryOptions,
  useQuery,
} from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import { tokenEndpoints } from '../../client/endpoint-sets.ts';
import type { JwtExplanationView } from '../../wire/federation.ts';
import type { CreatedServiceTokenView, NewServiceTokenView, ServiceTokenView } from '../../wire/service-tokens.ts';
import type { MeView } from '../../wire/me.ts';
import type { AdminOf } from '../text/admin-of.ts';
import { type ApiError, api, apiWithToken } from './client.ts';
import { useChange } from './use-change.ts';
import { useOnce } from './use-once.ts';

/** Where the user manages service tokens: in an organization, or in one of its projects. */
export interface TokenHome {
  readonly org: string;
  readonly project?: string;
}

/** A service token, and where the user manages it. */
export interface ListedToken extends ServiceTokenView {
  readonly home: TokenHome;
}

const pollMs = 60_000;

function keyOf(organization: string): QueryKey {
  return ['service-tokens', organization];
}

function tokensQuery(organization: string, homes: readonly TokenHome[]) {
  return queryOptions<readonly ListedToken[], ApiError>({
    queryKey: [...keyOf(organization), ...homes],
    queryFn: async () => {
      const lists = await Promise.all(
        homes.map(async (home) => {
          const { body } = await call(api, tokenEndpoints(home).list, { params: home });
          return body.serviceTokens.map((token) => ({ ...token, home }));
        }),
      );
      return lists.flat().toSorted((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt));
    },
    // They become used.
    refetchInterval: pollMs,
  });
}

/** Where a user manages service tokens: of the organization, or of single projects. */
export function tokenHomes(organization: string, { isAdmin, projects }: AdminOf): readonly TokenHome[] {
  if (isAdmin) return [{ org: organization }];
  return projects.map((project) => ({ org: organization, project }));
}

/** The service tokens that a user administers, newest first. */
export function useServiceTokens(
  organization: string,
  homes: readonly TokenHome[],
): UseQueryResult<readonly ListedToken[], ApiError> {
  return useQuery({ ...tokensQuery(organization, homes), enabled: homes.length > 0 });
}

export interface NewToken {
  readonly home: TokenHome;
  readonly name: string;
  readonly scope: ServiceTokenView['scope'];
  /** Of project scope. */
  readonly projectId?: string;
  /** Of environment scope. */
  readonly environmentId?: string;
  readonly permission: ServiceTokenView['permission'];
  /** Without it the server chooses the latest end that it allows. */
  readonly expiresInDays?: number;
  /** For a token without a value: what proves it. */
  readonly federation?: { readonly issuer: string; readonly claims: Record<string, string[]> };
}

/** A token that was created. If only a lost response had its value, there is none. */
export type CreatedToken = NewServiceTokenView | ServiceTokenView;

/** Creates a service token. The first response has its value, and no later one has. A federated token has none. */
export function useCreateToken(organization: string): UseMutationResult<CreatedToken, ApiError, NewToken> {
  const once = useOnce();
  return useChange((token: NewToken) => {
    const { home, ...body } = token;
    return once(token, async (idempotencyKey) => {
      const request = { params: home, body, idempotencyKey };
      return (await call(api, tokenEndpoints(home).create, request)).body;
    });
  }, keyOf(organization));
}

type FoundToken = Extract<MeView, { type: 'service_token' }>;

/**
 * Asks the server which service token a value is. The value is sent once, in a header. It counts as a use of the token.
 *
 * @throws ApiError with status 401 if the value is not valid, or no longer
 */
export async function findServiceToken(value: string): Promise<FoundToken> {
  const { body } = await call(apiWithToken(value), 'GET /me');
  if (body.type !== 'service_token') throw new Error('the value is not that of a service token');
  return body;
}

export interface Rotation {
  readonly token: ListedToken;
  /** How long the former value stays valid. */
  readonly overlapSeconds: number;
}

/** Gives a service token another value. The response has it, and no later one has. */
export function useRotateToken(organization: string): UseMutationResult<CreatedServiceTokenView, ApiError, Rotation> {
  return useChange(
    async ({ token: { home, id }, overlapSeconds }) =>
      (await call(api, tokenEndpoints(home).rotate, { params: { ...home, id }, body: { overlapSeconds } })).body,
    keyOf(organization),
  );
}

/** Ends the access of a service token at once. */
export function useRevokeToken(organization: string): UseMutationResult<void, ApiError, ListedToken> {
  return useChange(async ({ home, id }) => {
    await call(api, tokenEndpoints(home).revoke, { params: { ...home, id } });
  }, keyOf(organization));
}

/** Lifts the revocation of a keyless service token. */
export function useReinstateToken(organization: string): UseMutationResult<ServiceTokenView, ApiError, ListedToken> {
  return useChange(
    async ({ home, id }) => (await call(api, tokenEndpoints(home).reinstate, { params: { ...home, id } })).body,
    keyOf(organization),
  );
}

/** Accepts the issuer of a federated token at the generation that the user saw. */
export function useAcceptIssuer(organization: string): UseMutationResult<void, ApiError, AcceptedIssuer> {
  return useChange(async ({ id, generation }) => {
    const request = { params: { org: organization, id }, body: { generation } };
    await call(api, 'POST /service-tokens/{org}/{id}/accept-issuer', request);
  }, keyOf(organization));
}

export interface AcceptedIssuer {
  readonly id: string;
  readonly generation: number;
}

/**
 * Asks the server check by check what becomes of a JWT for a federated token. No cache of the page keeps the JWT.
 *
 * @throws ApiError
 */
export async function explainJwt(organization: string, id: string, jwt: string): Promise<JwtExplanationView> {
  const request = { params: { org: organization, id }, body: { jwt } };
  return (await call(api, 'POST /service-tokens/{org}/{id}/explain', request)).body;
}

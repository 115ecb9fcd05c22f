import type { Plaintext } from '../../domain/plaintext.ts';
import type { ServiceTokenAction } from '../../domain/policy.ts';
import type { IdempotencyRequest } from '../../services/change/once.ts';
import type { PageRequest } from '../../services/kernel/page.ts';
import type {
  NewTokenInput,
  RotateServiceTokenInput,
  ServiceTokenRecord,
  TokenAccess,
} from '../../services/tokens/service-tokens.ts';
import {
  acceptIssuer,
  explainJwt,
  createProjectServiceToken,
  createServiceToken,
  getProjectServiceToken,
  getServiceToken,
  listProjectServiceTokens,
  listServiceTokens,
  reinstateProjectServiceToken,
  reinstateServiceToken,
  revokeProjectServiceToken,
  revokeServiceToken,
  rotateProjectServiceToken,
  rotateServiceToken,
} from '../../wire/contract/service-tokens.ts';
import type { FederationView } from '../../wire/federation.ts';
import type {
  CreatedServiceTokenView,
  NewServiceTokenView,
  ServiceTokenListView,
  ServiceTokenView,
} from '../../wire/service-tokens.ts';
import type { HttpServices } from '../http-services.ts';
import { replayed } from '../request/idempotency.ts';
import { organizationRoute, projectRoute, type Route } from '../route.ts';

type Handler<A extends ServiceTokenAction, Inputs, Response> = (
  services: Pick<HttpServices, 'serviceTokens'>,
  access: TokenAccess<A>,
  inputs: Inputs,
) => Promise<Response>;

const list: Handler<'service_token.list', { query: PageRequest }, Ok<ServiceTokenListView>> = async (
  { serviceTokens },
  access,
  { query },
) => {
  const { serviceTokens: found, nextCursor } = await serviceTokens.list(access, query);
  return { status: 200, body: { serviceTokens: found.map((record) => viewOf(access, record)), nextCursor } };
};

const create: Handler<
  'service_token.create',
  { body: NewTokenInput; idempotencyKey: IdempotencyRequest | undefined },
  | ReturnType<typeof replayed<ServiceTokenView>>
  | { readonly status: 201; readonly body: NewServiceTokenView; readonly location: string }
> = async ({ serviceTokens }, access, { body, idempotencyKey }) => {
  const created = await serviceTokens.createOnce(access, body, idempotencyKey);
  const { record, token } = created;
  if (token === undefined && created.isReplayed) return replayed(viewOf(access, record));
  const { organization } = access;
  const home =
    'project' in access
      ? `projects/${organization}/${access.project}/service-tokens`
      : `service-tokens/${organization}`;
  const view = token === undefined ? federatedViewOf(access, record) : createdViewOf(access, record, token);
  return { status: 201, body: view, location: `/api/v1/${home}/${record.id}` };
};

const get: Handler<'service_token.list', OneToken, Ok<ServiceTokenView>> = async (
  { serviceTokens },
  access,
  { params },
) => ({ status: 200, body: viewOf(access, await serviceTokens.get(access, params.id)) });

const rotate: Handler<
  'service_token.rotate',
  OneToken & { body: RotateServiceTokenInput | undefined },
  Ok<CreatedServiceTokenView>
> = async ({ serviceTokens }, access, { params, body }) => {
  const { record, token } = await serviceTokens.rotate(access, params.id, body);
  return { status: 200, body: createdViewOf(access, record, token) };
};

const reinstate: Handler<'service_token.reinstate', OneToken, Ok<ServiceTokenView>> = async (
  { serviceTokens },
  access,
  { params },
) => ({ status: 200, body: viewOf(access, await serviceTokens.reinstate(access, params.id)) });

const revoke: Handler<'service_token.revoke', OneToken, { readonly status: 204 }> = async (
  { serviceTokens },
  access,
  { params },
) => {
  await serviceTokens.revoke(access, params.id);
  return { status: 204 };
};

/** docs/interface.md 4.4, 4.8 and 4.16. Those of a project are the same for its admins, and for tokens within it. */
export const serviceTokenRoutes: readonly Route[] = [
  organizationRoute({
    ...listServiceTokens,
    action: 'service_token.list',
    handle: list,
  }),
  organizationRoute({
    ...createServiceToken,
    action: 'service_token.create',
    handle: create,
  }),
  organizationRoute({
    ...getServiceToken,
    action: 'service_token.list',
    handle: get,
  }),
  organizationRoute({
    ...rotateServiceToken,
    action: 'service_token.rotate',
    handle: rotate,
  }),
  organizationRoute({
    ...reinstateServiceToken,
    action: 'service_token.reinstate',
    handle: reinstate,
  }),
  organizationRoute({
    ...acceptIssuer,
    action: 'service_token.accept_issuer',
    async handle({ federations }, access, { params, body }) {
      return { status: 200, body: viewOf(access, await federations.acceptIssuer(access, params.id, body)) };
    },
  }),
  organizationRoute({
    ...explainJwt,
    action: 'service_token.explain',
    async handle({ federations }, access, { params, body }) {
      const { isProven, checks } = await federations.explain(access, params.id, body);
      return { status: 200, body: { isProven, checks: [...checks] } };
    },
  }),
  organizationRoute({
    ...revokeServiceToken,
    action: 'service_token.revoke',
    handle: revoke,
  }),
  projectRoute({
    ...listProjectServiceTokens,
    action: 'service_token.list',
    handle: list,
  }),
  projectRoute({
    ...createProjectServiceToken,
    action: 'service_token.create',
    handle: create,
  }),
  projectRoute({
    ...getProjectServiceToken,
    action: 'service_token.list',
    handle: get,
  }),
  projectRoute({
    ...rotateProjectServiceToken,
    action: 'service_token.rotate',
    handle: rotate,
  }),
  projectRoute({
    ...reinstateProjectServiceToken,
    action: 'service_token.reinstate',
    handle: reinstate,
  }),
  projectRoute({
    ...revokeProjectServiceToken,
    action: 'service_token.revoke',
    handle: revoke,
  }),
];

interface OneToken {
  readonly params: { readonly id: string };
}

interface Ok<Body> {
  readonly status: 200;
  readonly body: Body;
}

/** In an organization, as the path names it. */
type InOrganization = Pick<TokenAccess, 'organizationId'>;

function viewOf(access: InOrganization, record: ServiceTokenRecord): ServiceTokenView {
  const { federation } = record;
  return { ...fieldsOf(access, record), ...(federation === null ? {} : { federation: federationOf(federation) }) };
}

function createdViewOf(access: InOrganization, record: ServiceTokenRecord, token: Plaintext): CreatedServiceTokenView {
  return { ...fieldsOf(access, record), token: token.reveal() };
}

function federatedViewOf(access: InOrganization, record: ServiceTokenRecord): NewServiceTokenView {
  if (record.federation === null) throw new Error('a token without a value is federated');
  return { ...fieldsOf(access, record), federation: federationOf(record.federation) };
}

function federationOf({ claims, ...fields }: NonNullable<ServiceTokenRecord['federation']>): FederationView {
  const shown = Object.fromEntries(Object.entries(claims).map(([claim, values]) => [claim, [...values]]));
  return { ...fields, claims: shown, isAccepted: fields.generation === fields.issuerGeneration };
}

/** What all views have. */
function fieldsOf(
  { organizationId }: InOrganization,
  record: ServiceTokenRecord,
): Omit<ServiceTokenView, 'federation'> {
  return {
    id: record.id,
    organizationId,
    name: record.name,
    scope: record.scope,
    projectId: record.projectId,
    environmentId: record.environmentId,
    permission: record.permission,
    createdBy: record.createdBy,
    createdByType: record.createdByType,
    createdByName: record.createdByName,
    cluster: record.cluster,
    holder: record.holder,
    createdAt: record.createdAt.toISOString(),
    expiresAt: record.expiresAt?.toISOString() ?? null,
    revokedAt: record.revokedAt?.toISOString() ?? null,
    suspendedAt: record.suspendedAt?.toISOString() ?? null,
    lastUsedAt: record.lastUsedAt?.toISOString() ?? null,
  };
}

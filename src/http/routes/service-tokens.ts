import type { ServiceTokenAction } from '../../domain/policy.ts';
import type { IdempotencyRequest } from '../../services/change/once.ts';
import type { PageRequest } from '../../services/kernel/page.ts';
import type {
  CreateServiceTokenInput,
  RotateServiceTokenInput,
  ServiceTokenRecord,
  TokenAccess,
} from '../../services/tokens/service-tokens.ts';
import { pageQuery } from '../../wire/page.ts';
import {
  type CreatedServiceTokenView,
  type ServiceTokenListView,
  type ServiceTokenView,
  createServiceTokenBody,
  createdServiceTokenView,
  rotateServiceTokenBody,
  serviceTokenListView,
  serviceTokenParams,
  serviceTokenView,
} from '../../wire/service-tokens.ts';
import type { HttpServices } from '../http-services.ts';
import { replayed } from '../request/idempotency.ts';
import { organizationRoute, projectRoute, type Route } from '../route.ts';

const all = '/service-tokens/{org}';
const one = '/service-tokens/{org}/{id}';
const allOfProject = '/projects/{org}/{project}/service-tokens';
const oneOfProject = '/projects/{org}/{project}/service-tokens/{id}';

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
  { body: CreateServiceTokenInput; idempotencyKey: IdempotencyRequest | undefined },
  | ReturnType<typeof replayed<ServiceTokenView>>
  | { readonly status: 201; readonly body: CreatedServiceTokenView; readonly location: string }
> = async ({ serviceTokens }, access, { body, idempotencyKey }) => {
  const { record, token } = await serviceTokens.createOnce(access, body, idempotencyKey);
  if (token === undefined) return replayed(viewOf(access, record));
  const { organization } = access;
  const home =
    'project' in access
      ? `projects/${organization}/${access.project}/service-tokens`
      : `service-tokens/${organization}`;
  const view = { ...viewOf(access, record), token: token.reveal() };
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
  return { status: 200, body: { ...viewOf(access, record), token: token.reveal() } };
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

const listed = { input: { query: pageQuery }, responses: { 200: serviceTokenListView }, handle: list } as const;
const created = {
  input: { body: createServiceTokenBody, idempotencyKey: true },
  responses: { 201: createdServiceTokenView, 200: serviceTokenView },
  handle: create,
} as const;
const got = { input: { params: serviceTokenParams }, responses: { 200: serviceTokenView }, handle: get } as const;
const rotated = {
  input: { params: serviceTokenParams, body: rotateServiceTokenBody },
  responses: { 200: createdServiceTokenView },
  handle: rotate,
} as const;
const reinstated = {
  input: { params: serviceTokenParams },
  responses: { 200: serviceTokenView },
  handle: reinstate,
} as const;
const revoked = { input: { params: serviceTokenParams }, responses: { 204: null }, handle: revoke } as const;

/** docs/interface.md 4.4, 4.8 and 4.16. Those of a project are the same for its admins, and for tokens within it. */
export const serviceTokenRoutes: readonly Route[] = [
  organizationRoute({
    method: 'GET',
    path: all,
    action: 'service_token.list',
    operation: 'listServiceTokens',
    summary: 'List the service tokens of an organization, newest first',
    ...listed,
  }),
  organizationRoute({
    method: 'POST',
    path: all,
    action: 'service_token.create',
    operation: 'createServiceToken',
    summary: 'Create a service token; its value is returned only once',
    ...created,
  }),
  organizationRoute({
    method: 'GET',
    path: one,
    action: 'service_token.list',
    operation: 'getServiceToken',
    summary: 'Get a service token',
    ...got,
  }),
  organizationRoute({
    method: 'POST',
    path: `${one}/rotate`,
    action: 'service_token.rotate',
    operation: 'rotateServiceToken',
    summary: 'Rotate a service token; the new value is returned only once',
    ...rotated,
  }),
  organizationRoute({
    method: 'POST',
    path: `${one}/reinstate`,
    action: 'service_token.reinstate',
    operation: 'reinstateServiceToken',
    summary: 'Lift the revocation of a keyless service token',
    ...reinstated,
  }),
  organizationRoute({
    method: 'DELETE',
    path: one,
    action: 'service_token.revoke',
    operation: 'revokeServiceToken',
    summary: 'Revoke a service token immediately',
    ...revoked,
  }),
  projectRoute({
    method: 'GET',
    path: allOfProject,
    action: 'service_token.list',
    operation: 'listProjectServiceTokens',
    summary: 'List the service tokens for a project and its environments, newest first',
    ...listed,
  }),
  projectRoute({
    method: 'POST',
    path: allOfProject,
    action: 'service_token.create',
    operation: 'createProjectServiceToken',
    summary: 'Create a service token for a project or an environment of it; its value is returned only once',
    ...created,
  }),
  projectRoute({
    method: 'GET',
    path: oneOfProject,
    action: 'service_token.list',
    operation: 'getProjectServiceToken',
    summary: 'Get a service token of a project',
    ...got,
  }),
  projectRoute({
    method: 'POST',
    path: `${oneOfProject}/rotate`,
    action: 'service_token.rotate',
    operation: 'rotateProjectServiceToken',
    summary: 'Rotate a service token of a project; the new value is returned only once',
    ...rotated,
  }),
  projectRoute({
    method: 'POST',
    path: `${oneOfProject}/reinstate`,
    action: 'service_token.reinstate',
    operation: 'reinstateProjectServiceToken',
    summary: 'Lift the revocation of a keyless service token of a project',
    ...reinstated,
  }),
  projectRoute({
    method: 'DELETE',
    path: oneOfProject,
    action: 'service_token.revoke',
    operation: 'revokeProjectServiceToken',
    summary: 'Revoke a service token of a project immediately',
    ...revoked,
  }),
];

interface OneToken {
  readonly params: { readonly id: string };
}

interface Ok<Body> {
  readonly status: 200;
  readonly body: Body;
}

function viewOf({ organizationId }: { readonly organizationId: string }, record: ServiceTokenRecord): ServiceTokenView {
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

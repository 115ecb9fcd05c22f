import type { ServiceTokenRecord } from '../../services/tokens/service-tokens.ts';
import { pageQuery } from '../../wire/page.ts';
import {
  type ServiceTokenView,
  createServiceTokenBody,
  createdServiceTokenView,
  rotateServiceTokenBody,
  serviceTokenListView,
  serviceTokenParams,
  serviceTokenView,
} from '../../wire/service-tokens.ts';
import { replayed } from '../request/idempotency.ts';
import { type Route, organizationRoute } from '../route.ts';

const all = '/service-tokens/{org}';
const one = '/service-tokens/{org}/{id}';

/** docs/interface.md 4.4 and 4.8 */
export const serviceTokenRoutes: readonly Route[] = [
  organizationRoute({
    method: 'GET',
    path: all,
    action: 'service_token.list',
    operation: 'listServiceTokens',
    summary: 'List the service tokens of an organization, newest first',
    input: { query: pageQuery },
    responses: { 200: serviceTokenListView },
    async handle({ serviceTokens }, access, { query }) {
      const list = await serviceTokens.list(access, query);
      const view = {
        serviceTokens: list.serviceTokens.map((record) => viewOf(access, record)),
        nextCursor: list.nextCursor,
      };
      return { status: 200, body: view };
    },
  }),
  organizationRoute({
    method: 'POST',
    path: all,
    action: 'service_token.create',
    operation: 'createServiceToken',
    summary: 'Create a service token; its value is returned only once',
    input: { body: createServiceTokenBody, idempotencyKey: true },
    responses: { 201: createdServiceTokenView, 200: serviceTokenView },
    async handle({ serviceTokens }, access, { body, idempotencyKey }) {
      const { record, token } = await serviceTokens.createOnce(access, body, idempotencyKey);
      if (token === undefined) return replayed(viewOf(access, record));
      const view = { ...viewOf(access, record), token: token.reveal() };
      return { status: 201, body: view, location: `/api/v1/service-tokens/${access.organization}/${record.id}` };
    },
  }),
  organizationRoute({
    method: 'GET',
    path: one,
    action: 'service_token.list',
    operation: 'getServiceToken',
    summary: 'Get a service token',
    input: { params: serviceTokenParams },
    responses: { 200: serviceTokenView },
    async handle({ serviceTokens }, access, { params }) {
      return { status: 200, body: viewOf(access, await serviceTokens.get(access, params.id)) };
    },
  }),
  organizationRoute({
    method: 'POST',
    path: `${one}/rotate`,
    action: 'service_token.rotate',
    operation: 'rotateServiceToken',
    summary: 'Rotate a service token; the new value is returned only once',
    input: { params: serviceTokenParams, body: rotateServiceTokenBody },
    responses: { 200: createdServiceTokenView },
    async handle({ serviceTokens }, access, { params, body }) {
      const { record, token } = await serviceTokens.rotate(access, params.id, body);
      return { status: 200, body: { ...viewOf(access, record), token: token.reveal() } };
    },
  }),
  organizationRoute({
    method: 'POST',
    path: `${one}/reinstate`,
    action: 'service_token.reinstate',
    operation: 'reinstateServiceToken',
    summary: 'Lift the revocation of a keyless service token',
    input: { params: serviceTokenParams },
    responses: { 200: serviceTokenView },
    async handle({ serviceTokens }, access, { params }) {
      return { status: 200, body: viewOf(access, await serviceTokens.reinstate(access, params.id)) };
    },
  }),
  organizationRoute({
    method: 'DELETE',
    path: one,
    action: 'service_token.revoke',
    operation: 'revokeServiceToken',
    summary: 'Revoke a service token immediately',
    input: { params: serviceTokenParams },
    responses: { 204: null },
    async handle({ serviceTokens }, access, { params }) {
      await serviceTokens.revoke(access, params.id);
      return { status: 204 };
    },
  }),
];

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

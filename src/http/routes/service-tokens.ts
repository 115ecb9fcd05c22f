import type { ServiceTokenRecord } from '../../services/service-tokens.ts';
import { pageQuery } from '../../wire/page.ts';
import {
  type CreatedServiceTokenView,
  type ServiceTokenListView,
  type ServiceTokenView,
  createServiceTokenBody,
  serviceTokenParams,
} from '../../wire/service-tokens.ts';
import { type Route, organizationRoute } from '../route.ts';

const all = '/service-tokens/{org}';
const one = '/service-tokens/{org}/{id}';

/** docs/interface.md 4.4 and 4.8 */
export const serviceTokenRoutes: readonly Route[] = [
  organizationRoute({
    method: 'GET',
    path: all,
    action: 'service_token.list',
    takes: { query: pageQuery },
    async handle({ serviceTokens }, access, { query }) {
      const list = await serviceTokens.list(access, query);
      const view: ServiceTokenListView = {
        serviceTokens: list.serviceTokens.map((record) => serviceTokenView(access, record)),
        nextCursor: list.nextCursor,
      };
      return { status: 200, body: view };
    },
  }),
  organizationRoute({
    method: 'POST',
    path: all,
    action: 'service_token.create',
    takes: { body: createServiceTokenBody },
    async handle({ serviceTokens }, access, { body }) {
      const { record, token } = await serviceTokens.create(access, body);
      const view: CreatedServiceTokenView = { ...serviceTokenView(access, record), token: token.reveal() };
      return { status: 201, body: view, location: `/api/v1/service-tokens/${access.organization}/${record.id}` };
    },
  }),
  organizationRoute({
    method: 'GET',
    path: one,
    action: 'service_token.list',
    takes: { params: serviceTokenParams },
    async handle({ serviceTokens }, access, { params }) {
      return { status: 200, body: serviceTokenView(access, await serviceTokens.get(access, params.id)) };
    },
  }),
  organizationRoute({
    method: 'DELETE',
    path: one,
    action: 'service_token.revoke',
    takes: { params: serviceTokenParams },
    async handle({ serviceTokens }, access, { params }) {
      await serviceTokens.revoke(access, params.id);
      return { status: 204 };
    },
  }),
];

function serviceTokenView(
  { organizationId }: { readonly organizationId: string },
  record: ServiceTokenRecord,
): ServiceTokenView {
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
    createdAt: record.createdAt.toISOString(),
    expiresAt: record.expiresAt?.toISOString() ?? null,
    revokedAt: record.revokedAt?.toISOString() ?? null,
    lastUsedAt: record.lastUsedAt?.toISOString() ?? null,
  };
}

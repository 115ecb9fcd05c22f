import type { OrganizationRecord } from '../../services/organizations.ts';
import { type OrganizationListView, type OrganizationView, createTenantBody } from '../../wire/tenancy.ts';
import { type Route, instanceRoute, organizationRoute, selfRoute } from '../route.ts';

export const organizationRoutes: readonly Route[] = [
  selfRoute({
    method: 'GET',
    path: '/organizations',
    action: 'organization.list',
    takes: {},
    async handle({ organizations }, caller) {
      const list = await organizations.list(caller);
      const views = list.map((organization) => ({ ...organizationView(organization), role: organization.role }));
      return { status: 200, body: { organizations: views, nextCursor: null } satisfies OrganizationListView };
    },
  }),
  instanceRoute({
    method: 'POST',
    path: '/organizations',
    action: 'organization.create',
    takes: { body: createTenantBody },
    async handle({ organizations }, access, { body }) {
      const view = organizationView(await organizations.create(access, body));
      return { status: 201, body: view, location: `/api/v1/organizations/${view.slug}` };
    },
  }),
  organizationRoute({
    method: 'GET',
    path: '/organizations/{org}',
    action: 'organization.read',
    takes: {},
    async handle({ organizations }, access) {
      return { status: 200, body: organizationView(await organizations.get(access)) };
    },
  }),
];

function organizationView({ id, slug, displayName, createdAt }: OrganizationRecord): OrganizationView {
  return { id, slug, displayName, createdAt: createdAt.toISOString() };
}

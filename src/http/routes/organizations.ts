import type { OrganizationRecord } from '../../services/tenancy/organizations.ts';
import {
  createOrganization,
  deleteOrganization,
  getOrganization,
  listOrganizations,
  purgeOrganization,
  setImpersonation,
  undeleteOrganization,
  updateOrganization,
} from '../../wire/contract/organizations.ts';
import type { OrganizationView } from '../../wire/tenancy.ts';
import { type Route, instanceRoute, organizationRoute, selfRoute } from '../route.ts';

export const organizationRoutes: readonly Route[] = [
  selfRoute({
    ...listOrganizations,
    action: 'organization.list',
    async handle({ access, organizations }, caller, { query: { deleted = false, all = false } }) {
      if (deleted || all) {
        const list = deleted
          ? await organizations.listDeleted(await access.instance(caller, 'organization.list_deleted'))
          : await organizations.listAll(await access.instance(caller, 'organization.list_all'));
        const views = list.map(({ role, owners, deletedAt, ...record }) => ({
          ...viewOf(record),
          role,
          owners: [...owners],
          ...(deletedAt === null ? {} : { deletedAt: deletedAt.toISOString() }),
        }));
        return { status: 200, body: { organizations: views, nextCursor: null } };
      }
      const list = await organizations.list(caller);
      const views = list.map((organization) => ({ ...viewOf(organization), role: organization.role }));
      return { status: 200, body: { organizations: views, nextCursor: null } };
    },
  }),
  instanceRoute({
    ...createOrganization,
    action: 'organization.create',
    async handle({ organizations }, access, { body }) {
      const view = viewOf(await organizations.create(access, body));
      return { status: 201, body: view, location: `/api/v1/organizations/${view.slug}` };
    },
  }),
  organizationRoute({
    ...getOrganization,
    action: 'organization.read',
    async handle({ organizations }, access) {
      return { status: 200, body: viewOf(await organizations.get(access)) };
    },
  }),
  organizationRoute({
    ...updateOrganization,
    action: 'organization.update',
    async handle({ organizations }, access, { body }) {
      return { status: 200, body: viewOf(await organizations.update(access, body)) };
    },
  }),
  organizationRoute({
    ...deleteOrganization,
    action: 'organization.delete',
    async handle({ organizations }, access) {
      await organizations.delete(access);
      return { status: 204 };
    },
  }),
  organizationRoute({
    ...setImpersonation,
    action: 'organization.set_impersonation',
    async handle({ organizations }, access, { body }) {
      return { status: 200, body: viewOf(await organizations.setImpersonation(access, body.forbidden)) };
    },
  }),
  instanceRoute({
    ...undeleteOrganization,
    action: 'organization.undelete',
    async handle({ organizations }, access, { params }) {
      return { status: 200, body: viewOf(await organizations.undelete(access, { organization: params.org })) };
    },
  }),
  instanceRoute({
    ...purgeOrganization,
    action: 'organization.purge',
    async handle({ organizations }, access, { params }) {
      await organizations.purge(access, { organization: params.org });
      return { status: 204 };
    },
  }),
];

function viewOf({ createdAt, ...organization }: OrganizationRecord): OrganizationView {
  const { id, slug, displayName, impersonationForbidden } = organization;
  return { id, slug, displayName, createdAt: createdAt.toISOString(), impersonationForbidden };
}

import type { OrganizationRecord } from '../../services/tenancy/organizations.ts';
import {
  type OrganizationView,
  createTenantBody,
  organizationListQuery,
  organizationListView,
  organizationPath,
  organizationView,
  setImpersonationBody,
  updateTenantBody,
} from '../../wire/tenancy.ts';
import { type Route, instanceRoute, organizationRoute, selfRoute } from '../route.ts';

export const organizationRoutes: readonly Route[] = [
  selfRoute({
    method: 'GET',
    path: '/organizations',
    action: 'organization.list',
    operation: 'listOrganizations',
    summary: 'List the organizations that you can see',
    input: { query: organizationListQuery },
    responses: { 200: organizationListView },
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
    method: 'POST',
    path: '/organizations',
    action: 'organization.create',
    operation: 'createOrganization',
    summary: 'Create an organization that you own',
    input: { body: createTenantBody },
    responses: { 201: organizationView },
    async handle({ organizations }, access, { body }) {
      const view = viewOf(await organizations.create(access, body));
      return { status: 201, body: view, location: `/api/v1/organizations/${view.slug}` };
    },
  }),
  organizationRoute({
    method: 'GET',
    path: '/organizations/{org}',
    action: 'organization.read',
    operation: 'getOrganization',
    summary: 'Get an organization',
    input: {},
    responses: { 200: organizationView },
    async handle({ organizations }, access) {
      return { status: 200, body: viewOf(await organizations.get(access)) };
    },
  }),
  organizationRoute({
    method: 'PATCH',
    path: '/organizations/{org}',
    action: 'organization.update',
    operation: 'updateOrganization',
    summary: 'Change the display name of an organization',
    input: { body: updateTenantBody },
    responses: { 200: organizationView },
    async handle({ organizations }, access, { body }) {
      return { status: 200, body: viewOf(await organizations.update(access, body)) };
    },
  }),
  organizationRoute({
    method: 'DELETE',
    path: '/organizations/{org}',
    action: 'organization.delete',
    operation: 'deleteOrganization',
    summary: 'Delete an organization and everything in it',
    input: {},
    responses: { 204: null },
    async handle({ organizations }, access) {
      await organizations.delete(access);
      return { status: 204 };
    },
  }),
  organizationRoute({
    method: 'PUT',
    path: '/organizations/{org}/impersonation',
    action: 'organization.set_impersonation',
    operation: 'setImpersonation',
    summary: 'Forbid or allow personal tokens that another person created',
    input: { body: setImpersonationBody },
    responses: { 200: organizationView },
    async handle({ organizations }, access, { body }) {
      return { status: 200, body: viewOf(await organizations.setImpersonation(access, body.forbidden)) };
    },
  }),
  instanceRoute({
    method: 'POST',
    path: '/organizations/{org}/undelete',
    action: 'organization.undelete',
    operation: 'undeleteOrganization',
    summary: 'Take the deletion of an organization back',
    input: { params: organizationPath },
    responses: { 200: organizationView },
    async handle({ organizations }, access, { params }) {
      return { status: 200, body: viewOf(await organizations.undelete(access, { organization: params.org })) };
    },
  }),
  instanceRoute({
    method: 'POST',
    path: '/organizations/{org}/purge',
    action: 'organization.purge',
    operation: 'purgeOrganization',
    summary: 'Purge a deleted organization',
    input: { params: organizationPath },
    responses: { 204: null },
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

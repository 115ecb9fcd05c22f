import type { RoleBindingRecord } from '../../services/people/role-bindings.ts';
import {
  roleBindingBody,
  roleBindingListQuery,
  roleBindingListView,
  roleBindingParams,
  type RoleBindingView,
  roleBindingView,
} from '../../wire/role-bindings.ts';
import { environmentRoute, organizationRoute, projectRoute, type Route } from '../route.ts';

/** docs/interface.md 4.16 */
export const roleBindingRoutes: readonly Route[] = [
  organizationRoute({
    method: 'GET',
    path: '/organizations/{org}/roles',
    action: 'organization.list_roles',
    operation: 'listOrganizationRoles',
    summary: 'List the roles by place of an organization',
    input: { query: roleBindingListQuery },
    responses: { 200: roleBindingListView },
    handle: async ({ roleBindings }, access, { query }) => ({
      status: 200,
      body: listOf(await roleBindings.list(access, query)),
    }),
  }),
  organizationRoute({
    method: 'PUT',
    path: '/organizations/{org}/roles/{subject}',
    action: 'organization.set_role',
    operation: 'setOrganizationRole',
    summary: 'Give a group a role in an organization',
    input: { params: roleBindingParams, body: roleBindingBody },
    responses: { 200: roleBindingView, 201: roleBindingView },
    handle: async ({ roleBindings }, access, { params, body }) =>
      responseOf(await roleBindings.set(access, params.subject, body.role)),
  }),
  organizationRoute({
    method: 'DELETE',
    path: '/organizations/{org}/roles/{subject}',
    action: 'organization.remove_role',
    operation: 'removeOrganizationRole',
    summary: 'Withdraw the role of a group in an organization',
    input: { params: roleBindingParams },
    responses: { 204: null },
    async handle({ roleBindings }, access, { params }) {
      await roleBindings.remove(access, params.subject);
      return { status: 204 };
    },
  }),
  projectRoute({
    method: 'GET',
    path: '/projects/{org}/{project}/roles',
    action: 'project.list_roles',
    operation: 'listProjectRoles',
    summary: 'List the roles in a project and its environments',
    input: { query: roleBindingListQuery },
    responses: { 200: roleBindingListView },
    handle: async ({ roleBindings }, access, { query }) => ({
      status: 200,
      body: listOf(await roleBindings.list(access, query)),
    }),
  }),
  projectRoute({
    method: 'PUT',
    path: '/projects/{org}/{project}/roles/{subject}',
    action: 'project.set_role',
    operation: 'setProjectRole',
    summary: 'Give a user or a group a role in a project',
    input: { params: roleBindingParams, body: roleBindingBody },
    responses: { 200: roleBindingView, 201: roleBindingView },
    handle: async ({ roleBindings }, access, { params, body }) =>
      responseOf(await roleBindings.set(access, params.subject, body.role)),
  }),
  projectRoute({
    method: 'DELETE',
    path: '/projects/{org}/{project}/roles/{subject}',
    action: 'project.remove_role',
    operation: 'removeProjectRole',
    summary: 'Withdraw the role of a user or a group in a project',
    input: { params: roleBindingParams },
    responses: { 204: null },
    async handle({ roleBindings }, access, { params }) {
      await roleBindings.remove(access, params.subject);
      return { status: 204 };
    },
  }),
  environmentRoute({
    method: 'GET',
    path: '/environments/{org}/{project}/{env}/roles',
    action: 'environment.list_roles',
    operation: 'listEnvironmentRoles',
    summary: 'List the roles in an environment',
    input: { query: roleBindingListQuery },
    responses: { 200: roleBindingListView },
    handle: async ({ roleBindings }, access, { query }) => ({
      status: 200,
      body: listOf(await roleBindings.list(access, query)),
    }),
  }),
  environmentRoute({
    method: 'PUT',
    path: '/environments/{org}/{project}/{env}/roles/{subject}',
    action: 'environment.set_role',
    operation: 'setEnvironmentRole',
    summary: 'Give a user or a group a role in an environment',
    input: { params: roleBindingParams, body: roleBindingBody },
    responses: { 200: roleBindingView, 201: roleBindingView },
    handle: async ({ roleBindings }, access, { params, body }) =>
      responseOf(await roleBindings.set(access, params.subject, body.role)),
  }),
  environmentRoute({
    method: 'DELETE',
    path: '/environments/{org}/{project}/{env}/roles/{subject}',
    action: 'environment.remove_role',
    operation: 'removeEnvironmentRole',
    summary: 'Withdraw the role of a user or a group in an environment',
    input: { params: roleBindingParams },
    responses: { 204: null },
    async handle({ roleBindings }, access, { params }) {
      await roleBindings.remove(access, params.subject);
      return { status: 204 };
    },
  }),
];

function listOf(list: { readonly bindings: readonly RoleBindingRecord[]; readonly nextCursor: string | null }): {
  roles: RoleBindingView[];
  nextCursor: string | null;
} {
  return { roles: list.bindings.map(viewOf), nextCursor: list.nextCursor };
}

function responseOf({
  binding,
  isNew,
}: {
  readonly binding: RoleBindingRecord;
  readonly isNew: boolean;
}):
  { readonly status: 201; readonly body: RoleBindingView } | { readonly status: 200; readonly body: RoleBindingView } {
  const body = viewOf(binding);
  return isNew ? { status: 201, body } : { status: 200, body };
}

function viewOf(record: RoleBindingRecord): RoleBindingView {
  const { project, environment, userId, email, displayName, group, role, createdAt } = record;
  const user = userId === null || email === null ? null : { id: userId, email, displayName };
  return { project, environment, user, group, role, createdAt: createdAt.toISOString() };
}

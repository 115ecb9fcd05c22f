import type { PageRequest } from '../../services/kernel/page.ts';
import type {
  ListRolesAccess,
  RemoveRoleAccess,
  RoleBindingRecord,
  SetRoleAccess,
  SubjectRef,
} from '../../services/people/role-bindings.ts';
import {
  roleBindingBody,
  roleBindingListQuery,
  roleBindingListView,
  roleBindingParams,
  type RoleBindingView,
  roleBindingView,
} from '../../wire/role-bindings.ts';
import { invitationView } from '../../wire/invitations.ts';
import type { HttpServices } from '../http-services.ts';
import { environmentRoute, organizationRoute, projectRoute, type Route } from '../route.ts';
import { invitationViewOf } from './invitations.ts';

type Services = Pick<HttpServices, 'roleBindings'>;

const listed = {
  input: { query: roleBindingListQuery },
  responses: { 200: roleBindingListView },
  async handle({ roleBindings }: Services, access: ListRolesAccess, { query }: { readonly query: PageRequest }) {
    const { bindings, nextCursor } = await roleBindings.list(access, query);
    return { status: 200 as const, body: { roles: bindings.map(viewOf), nextCursor } };
  },
} as const;

const set = {
  input: { params: roleBindingParams, body: roleBindingBody },
  responses: { 200: roleBindingView, 201: roleBindingView, 202: invitationView },
  async handle({ roleBindings }: Services, access: SetRoleAccess, { params, body }: OneSubject & RoleBody) {
    const result = await roleBindings.set(access, params.subject, body.role);
    if ('invitation' in result) return { status: 202 as const, body: invitationViewOf(result.invitation) };
    const { binding, isNew } = result;
    return isNew ? { status: 201 as const, body: viewOf(binding) } : { status: 200 as const, body: viewOf(binding) };
  },
} as const;

const removed = {
  input: { params: roleBindingParams },
  responses: { 204: null },
  async handle({ roleBindings }: Services, access: RemoveRoleAccess, { params }: OneSubject) {
    await roleBindings.remove(access, params.subject);
    return { status: 204 as const };
  },
} as const;

interface OneSubject {
  readonly params: { readonly subject: SubjectRef };
}

interface RoleBody {
  readonly body: { readonly role: RoleBindingView['role'] };
}

/** docs/interface.md 4.16: the same at each of the three places. */
export const roleBindingRoutes: readonly Route[] = [
  organizationRoute({
    method: 'GET',
    path: '/organizations/{org}/roles',
    action: 'organization.list_roles',
    operation: 'listOrganizationRoles',
    summary: 'List the roles by place of an organization',
    ...listed,
  }),
  organizationRoute({
    method: 'PUT',
    path: '/organizations/{org}/roles/{subject}',
    action: 'organization.set_role',
    operation: 'setOrganizationRole',
    summary: 'Give a group a role in an organization',
    ...set,
  }),
  organizationRoute({
    method: 'DELETE',
    path: '/organizations/{org}/roles/{subject}',
    action: 'organization.remove_role',
    operation: 'removeOrganizationRole',
    summary: 'Withdraw the role of a group in an organization',
    ...removed,
  }),
  projectRoute({
    method: 'GET',
    path: '/projects/{org}/{project}/roles',
    action: 'project.list_roles',
    operation: 'listProjectRoles',
    summary: 'List the roles in a project and its environments',
    ...listed,
  }),
  projectRoute({
    method: 'PUT',
    path: '/projects/{org}/{project}/roles/{subject}',
    action: 'project.set_role',
    operation: 'setProjectRole',
    summary: 'Give a user or a group a role in a project',
    ...set,
  }),
  projectRoute({
    method: 'DELETE',
    path: '/projects/{org}/{project}/roles/{subject}',
    action: 'project.remove_role',
    operation: 'removeProjectRole',
    summary: 'Withdraw the role of a user or a group in a project',
    ...removed,
  }),
  environmentRoute({
    method: 'GET',
    path: '/environments/{org}/{project}/{env}/roles',
    action: 'environment.list_roles',
    operation: 'listEnvironmentRoles',
    summary: 'List the roles in an environment',
    ...listed,
  }),
  environmentRoute({
    method: 'PUT',
    path: '/environments/{org}/{project}/{env}/roles/{subject}',
    action: 'environment.set_role',
    operation: 'setEnvironmentRole',
    summary: 'Give a user or a group a role in an environment',
    ...set,
  }),
  environmentRoute({
    method: 'DELETE',
    path: '/environments/{org}/{project}/{env}/roles/{subject}',
    action: 'environment.remove_role',
    operation: 'removeEnvironmentRole',
    summary: 'Withdraw the role of a user or a group in an environment',
    ...removed,
  }),
];

function viewOf(record: RoleBindingRecord): RoleBindingView {
  const { project, environment, userId, email, displayName, group, role, createdAt } = record;
  const user = userId === null || email === null ? null : { id: userId, email, displayName };
  return { project, environment, user, group, role, createdAt: createdAt.toISOString() };
}

import type { PageRequest } from '../../services/kernel/page.ts';
import type {
  ListRolesAccess,
  RemoveRoleAccess,
  RoleBindingRecord,
  SetRoleAccess,
  SubjectRef,
} from '../../services/people/role-bindings.ts';
import {
  listEnvironmentRoles,
  listOrganizationRoles,
  listProjectRoles,
  removeEnvironmentRole,
  removeOrganizationRole,
  removeProjectRole,
  setEnvironmentRole,
  setOrganizationRole,
  setProjectRole,
} from '../../wire/contract/role-bindings.ts';
import type { RoleBindingView } from '../../wire/role-bindings.ts';
import type { HttpServices } from '../http-services.ts';
import { environmentRoute, organizationRoute, projectRoute, type Route } from '../route.ts';
import { invitationViewOf } from './invitations.ts';

type Services = Pick<HttpServices, 'roleBindings'>;

async function list({ roleBindings }: Services, access: ListRolesAccess, { query }: { readonly query: PageRequest }) {
  const { bindings, nextCursor } = await roleBindings.list(access, query);
  return { status: 200 as const, body: { roles: bindings.map(viewOf), nextCursor } };
}

async function set({ roleBindings }: Services, access: SetRoleAccess, { params, body }: OneSubject & RoleBody) {
  const result = await roleBindings.set(access, params.subject, body.role);
  if ('invitation' in result) return { status: 202 as const, body: invitationViewOf(result.invitation) };
  const { binding, isNew } = result;
  return isNew ? { status: 201 as const, body: viewOf(binding) } : { status: 200 as const, body: viewOf(binding) };
}

async function remove({ roleBindings }: Services, access: RemoveRoleAccess, { params }: OneSubject) {
  await roleBindings.remove(access, params.subject);
  return { status: 204 as const };
}

interface OneSubject {
  readonly params: { readonly subject: SubjectRef };
}

interface RoleBody {
  readonly body: { readonly role: RoleBindingView['role'] };
}

/** docs/interface.md 4.16: the same at each of the three places. */
export const roleBindingRoutes: readonly Route[] = [
  organizationRoute({
    ...listOrganizationRoles,
    action: 'organization.list_roles',
    handle: list,
  }),
  organizationRoute({
    ...setOrganizationRole,
    action: 'organization.set_role',
    handle: set,
  }),
  organizationRoute({
    ...removeOrganizationRole,
    action: 'organization.remove_role',
    handle: remove,
  }),
  projectRoute({
    ...listProjectRoles,
    action: 'project.list_roles',
    handle: list,
  }),
  projectRoute({
    ...setProjectRole,
    action: 'project.set_role',
    handle: set,
  }),
  projectRoute({
    ...removeProjectRole,
    action: 'project.remove_role',
    handle: remove,
  }),
  environmentRoute({
    ...listEnvironmentRoles,
    action: 'environment.list_roles',
    handle: list,
  }),
  environmentRoute({
    ...setEnvironmentRole,
    action: 'environment.set_role',
    handle: set,
  }),
  environmentRoute({
    ...removeEnvironmentRole,
    action: 'environment.remove_role',
    handle: remove,
  }),
];

function viewOf(record: RoleBindingRecord): RoleBindingView {
  const { project, environment, userId, email, displayName, group, role, createdAt } = record;
  const user = userId === null || email === null ? null : { id: userId, email, displayName };
  return { project, environment, user, group, role, createdAt: createdAt.toISOString() };
}

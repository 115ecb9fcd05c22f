import { invitationView } from '../invitations.ts';
import {
  roleBindingBody,
  roleBindingListQuery,
  roleBindingListView,
  roleBindingParams,
  roleBindingView,
} from '../role-bindings.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4.16: the same at each of the three places. */

const listed = { input: { query: roleBindingListQuery }, responses: { 200: roleBindingListView } } as const;
const set = {
  input: { params: roleBindingParams, body: roleBindingBody },
  responses: { 200: roleBindingView, 201: roleBindingView, 202: invitationView },
} as const;
const removed = { input: { params: roleBindingParams }, responses: { 204: null } } as const;

export const listOrganizationRoles = endpoint({
  method: 'GET',
  path: '/organizations/{org}/roles',
  operation: 'listOrganizationRoles',
  summary: 'List the roles by place of an organization',
  ...listed,
});

export const setOrganizationRole = endpoint({
  method: 'PUT',
  path: '/organizations/{org}/roles/{subject}',
  operation: 'setOrganizationRole',
  summary: 'Give a group a role in an organization',
  ...set,
});

export const removeOrganizationRole = endpoint({
  method: 'DELETE',
  path: '/organizations/{org}/roles/{subject}',
  operation: 'removeOrganizationRole',
  summary: 'Withdraw the role of a group in an organization',
  ...removed,
});

export const listProjectRoles = endpoint({
  method: 'GET',
  path: '/projects/{org}/{project}/roles',
  operation: 'listProjectRoles',
  summary: 'List the roles in a project and its environments',
  ...listed,
});

export const setProjectRole = endpoint({
  method: 'PUT',
  path: '/projects/{org}/{project}/roles/{subject}',
  operation: 'setProjectRole',
  summary: 'Give a user or a group a role in a project',
  ...set,
});

export const removeProjectRole = endpoint({
  method: 'DELETE',
  path: '/projects/{org}/{project}/roles/{subject}',
  operation: 'removeProjectRole',
  summary: 'Withdraw the role of a user or a group in a project',
  ...removed,
});

export const listEnvironmentRoles = endpoint({
  method: 'GET',
  path: '/environments/{org}/{project}/{env}/roles',
  operation: 'listEnvironmentRoles',
  summary: 'List the roles in an environment',
  ...listed,
});

export const setEnvironmentRole = endpoint({
  method: 'PUT',
  path: '/environments/{org}/{project}/{env}/roles/{subject}',
  operation: 'setEnvironmentRole',
  summary: 'Give a user or a group a role in an environment',
  ...set,
});

export const removeEnvironmentRole = endpoint({
  method: 'DELETE',
  path: '/environments/{org}/{project}/{env}/roles/{subject}',
  operation: 'removeEnvironmentRole',
  summary: 'Withdraw the role of a user or a group in an environment',
  ...removed,
});

import {
  createTenantBody,
  organizationListQuery,
  organizationListView,
  organizationPath,
  organizationView,
  setImpersonationBody,
  updateTenantBody,
} from '../tenancy.ts';
import { endpoint } from './endpoint.ts';

export const listOrganizations = endpoint({
  method: 'GET',
  path: '/organizations',
  operation: 'listOrganizations',
  summary: 'List the organizations that you can see',
  input: { query: organizationListQuery },
  responses: { 200: organizationListView },
});

export const createOrganization = endpoint({
  method: 'POST',
  path: '/organizations',
  operation: 'createOrganization',
  summary: 'Create an organization that you own',
  input: { body: createTenantBody },
  responses: { 201: organizationView },
});

export const getOrganization = endpoint({
  method: 'GET',
  path: '/organizations/{org}',
  operation: 'getOrganization',
  summary: 'Get an organization',
  input: {},
  responses: { 200: organizationView },
});

export const updateOrganization = endpoint({
  method: 'PATCH',
  path: '/organizations/{org}',
  operation: 'updateOrganization',
  summary: 'Change the display name of an organization',
  input: { body: updateTenantBody },
  responses: { 200: organizationView },
});

export const deleteOrganization = endpoint({
  method: 'DELETE',
  path: '/organizations/{org}',
  operation: 'deleteOrganization',
  summary: 'Delete an organization and everything in it',
  input: {},
  responses: { 204: null },
});

export const setImpersonation = endpoint({
  method: 'PUT',
  path: '/organizations/{org}/impersonation',
  operation: 'setImpersonation',
  summary: 'Forbid or allow personal tokens that another person created',
  input: { body: setImpersonationBody },
  responses: { 200: organizationView },
});

export const undeleteOrganization = endpoint({
  method: 'POST',
  path: '/organizations/{org}/undelete',
  operation: 'undeleteOrganization',
  summary: 'Take the deletion of an organization back',
  input: { params: organizationPath },
  responses: { 200: organizationView },
});

export const purgeOrganization = endpoint({
  method: 'POST',
  path: '/organizations/{org}/purge',
  operation: 'purgeOrganization',
  summary: 'Purge a deleted organization',
  input: { params: organizationPath },
  responses: { 204: null },
});

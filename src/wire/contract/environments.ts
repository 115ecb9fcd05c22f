import {
  createTenantBody,
  environmentListView,
  environmentPath,
  environmentView,
  tenantListQuery,
  updatedEnvironmentView,
  updateEnvironmentBody,
} from '../tenancy.ts';
import { endpoint } from './endpoint.ts';

export const listEnvironments = endpoint({
  method: 'GET',
  path: '/environments/{org}/{project}',
  operation: 'listEnvironments',
  summary: 'List the environments of a project',
  input: { query: tenantListQuery },
  responses: { 200: environmentListView },
});

export const createEnvironment = endpoint({
  method: 'POST',
  path: '/environments/{org}/{project}',
  operation: 'createEnvironment',
  summary: 'Create an environment',
  input: { body: createTenantBody },
  responses: { 201: environmentView },
});

export const getEnvironment = endpoint({
  method: 'GET',
  path: '/environments/{org}/{project}/{env}',
  operation: 'getEnvironment',
  summary: 'Get an environment and its newest revision',
  input: {},
  responses: { 200: environmentView },
});

export const updateEnvironment = endpoint({
  method: 'PATCH',
  path: '/environments/{org}/{project}/{env}',
  operation: 'updateEnvironment',
  summary: 'Change the display name or the protection of an environment',
  input: { body: updateEnvironmentBody },
  responses: { 200: updatedEnvironmentView },
});

export const deleteEnvironment = endpoint({
  method: 'DELETE',
  path: '/environments/{org}/{project}/{env}',
  operation: 'deleteEnvironment',
  summary: 'Delete an environment and everything in it',
  input: {},
  responses: { 204: null },
});

export const undeleteEnvironment = endpoint({
  method: 'POST',
  path: '/environments/{org}/{project}/{env}/undelete',
  operation: 'undeleteEnvironment',
  summary: 'Take the deletion of an environment back',
  input: {},
  responses: { 200: environmentView },
});

export const purgeEnvironment = endpoint({
  method: 'POST',
  path: '/environments/{org}/{project}/{env}/purge',
  operation: 'purgeEnvironment',
  summary: 'Purge a deleted environment',
  input: { params: environmentPath },
  responses: { 204: null },
});

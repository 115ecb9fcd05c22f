import {
  createTenantBody,
  projectListQuery,
  projectListView,
  projectPath,
  projectView,
  updateTenantBody,
} from '../tenancy.ts';
import { endpoint } from './endpoint.ts';

export const listProjects = endpoint({
  method: 'GET',
  path: '/projects/{org}',
  operation: 'listProjects',
  summary: 'List the projects of an organization',
  input: { query: projectListQuery },
  responses: { 200: projectListView },
});

export const createProject = endpoint({
  method: 'POST',
  path: '/projects/{org}',
  operation: 'createProject',
  summary: 'Create a project',
  input: { body: createTenantBody },
  responses: { 201: projectView },
});

export const getProject = endpoint({
  method: 'GET',
  path: '/projects/{org}/{project}',
  operation: 'getProject',
  summary: 'Get a project',
  input: {},
  responses: { 200: projectView },
});

export const updateProject = endpoint({
  method: 'PATCH',
  path: '/projects/{org}/{project}',
  operation: 'updateProject',
  summary: 'Change the display name of a project',
  input: { body: updateTenantBody },
  responses: { 200: projectView },
});

export const deleteProject = endpoint({
  method: 'DELETE',
  path: '/projects/{org}/{project}',
  operation: 'deleteProject',
  summary: 'Delete a project and everything in it',
  input: {},
  responses: { 204: null },
});

export const undeleteProject = endpoint({
  method: 'POST',
  path: '/projects/{org}/{project}/undelete',
  operation: 'undeleteProject',
  summary: 'Take the deletion of a project back',
  input: {},
  responses: { 200: projectView },
});

export const purgeProject = endpoint({
  method: 'POST',
  path: '/projects/{org}/{project}/purge',
  operation: 'purgeProject',
  summary: 'Purge a deleted project',
  input: { params: projectPath },
  responses: { 204: null },
});

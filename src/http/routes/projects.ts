import { invalidField } from '../../domain/errors/domain-error.ts';
import type { ProjectRecord } from '../../services/tenancy/projects.ts';
import {
  type ProjectView,
  createTenantBody,
  projectListQuery,
  projectListView,
  projectPath,
  projectView,
  updateTenantBody,
} from '../../wire/tenancy.ts';
import { environmentViewOf } from './environments.ts';
import { type Route, instanceRoute, organizationRoute, projectRoute } from '../route.ts';

export const projectRoutes: readonly Route[] = [
  organizationRoute({
    method: 'GET',
    path: '/projects/{org}',
    action: 'project.list',
    operation: 'listProjects',
    summary: 'List the projects of an organization',
    input: { query: projectListQuery },
    responses: { 200: projectListView },
    async handle({ access: door, projects }, access, { query: { deleted = false, environments = false } }) {
      if (deleted && environments) throw invalidField('environments', 'cannot be combined with deleted');
      if (environments) {
        const found = await projects.listWithEnvironments(access);
        const views = found.map((project) => ({
          ...viewOf(project),
          environments: project.environments.map(environmentViewOf),
        }));
        return { status: 200, body: { projects: views, nextCursor: null } };
      }
      if (!deleted) {
        return { status: 200, body: { projects: (await projects.list(access)).map(viewOf), nextCursor: null } };
      }
      const list = await projects.listDeleted(await door.organization(access.caller, 'project.list_deleted', access));
      const views = list.map(({ deletedAt, ...record }) => ({
        ...viewOf(record),
        deletedAt: deletedAt.toISOString(),
      }));
      return { status: 200, body: { projects: views, nextCursor: null } };
    },
  }),
  organizationRoute({
    method: 'POST',
    path: '/projects/{org}',
    action: 'project.create',
    operation: 'createProject',
    summary: 'Create a project',
    input: { body: createTenantBody },
    responses: { 201: projectView },
    async handle({ projects }, access, { body }) {
      const view = viewOf(await projects.create(access, body));
      return { status: 201, body: view, location: `/api/v1/projects/${access.organization}/${view.slug}` };
    },
  }),
  projectRoute({
    method: 'GET',
    path: '/projects/{org}/{project}',
    action: 'project.read',
    operation: 'getProject',
    summary: 'Get a project',
    input: {},
    responses: { 200: projectView },
    async handle({ projects }, access) {
      return { status: 200, body: viewOf(await projects.get(access)) };
    },
  }),
  projectRoute({
    method: 'PATCH',
    path: '/projects/{org}/{project}',
    action: 'project.update',
    operation: 'updateProject',
    summary: 'Change the display name of a project',
    input: { body: updateTenantBody },
    responses: { 200: projectView },
    async handle({ projects }, access, { body }) {
      return { status: 200, body: viewOf(await projects.update(access, body)) };
    },
  }),
  projectRoute({
    method: 'DELETE',
    path: '/projects/{org}/{project}',
    action: 'project.delete',
    operation: 'deleteProject',
    summary: 'Delete a project and everything in it',
    input: {},
    responses: { 204: null },
    async handle({ projects }, access) {
      await projects.delete(access);
      return { status: 204 };
    },
  }),
  projectRoute({
    method: 'POST',
    path: '/projects/{org}/{project}/undelete',
    action: 'project.undelete',
    operation: 'undeleteProject',
    summary: 'Take the deletion of a project back',
    input: {},
    responses: { 200: projectView },
    async handle({ projects }, access) {
      return { status: 200, body: viewOf(await projects.undelete(access)) };
    },
  }),
  instanceRoute({
    method: 'POST',
    path: '/projects/{org}/{project}/purge',
    action: 'project.purge',
    operation: 'purgeProject',
    summary: 'Purge a deleted project',
    input: { params: projectPath },
    responses: { 204: null },
    async handle({ projects }, access, { params }) {
      await projects.purge(access, { organization: params.org, project: params.project });
      return { status: 204 };
    },
  }),
];

function viewOf({ id, slug, displayName, createdAt }: ProjectRecord): ProjectView {
  return { id, slug, displayName, createdAt: createdAt.toISOString() };
}

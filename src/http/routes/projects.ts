import { invalidField } from '../../domain/errors/domain-error.ts';
import type { ProjectRecord } from '../../services/tenancy/projects.ts';
import {
  createProject,
  deleteProject,
  getProject,
  listProjects,
  purgeProject,
  undeleteProject,
  updateProject,
} from '../../wire/contract/projects.ts';
import type { ProjectView } from '../../wire/tenancy.ts';
import { environmentViewOf } from './environments.ts';
import { type Route, instanceRoute, organizationRoute, projectRoute } from '../route.ts';

export const projectRoutes: readonly Route[] = [
  organizationRoute({
    ...listProjects,
    action: 'project.list',
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
    ...createProject,
    action: 'project.create',
    async handle({ projects }, access, { body }) {
      const view = viewOf(await projects.create(access, body));
      return { status: 201, body: view, location: `/api/v1/projects/${access.organization}/${view.slug}` };
    },
  }),
  projectRoute({
    ...getProject,
    action: 'project.read',
    async handle({ projects }, access) {
      return { status: 200, body: viewOf(await projects.get(access)) };
    },
  }),
  projectRoute({
    ...updateProject,
    action: 'project.update',
    async handle({ projects }, access, { body }) {
      return { status: 200, body: viewOf(await projects.update(access, body)) };
    },
  }),
  projectRoute({
    ...deleteProject,
    action: 'project.delete',
    async handle({ projects }, access) {
      await projects.delete(access);
      return { status: 204 };
    },
  }),
  projectRoute({
    ...undeleteProject,
    action: 'project.undelete',
    async handle({ projects }, access) {
      return { status: 200, body: viewOf(await projects.undelete(access)) };
    },
  }),
  instanceRoute({
    ...purgeProject,
    action: 'project.purge',
    async handle({ projects }, access, { params }) {
      await projects.purge(access, { organization: params.org, project: params.project });
      return { status: 204 };
    },
  }),
];

function viewOf({ id, slug, displayName, createdAt }: ProjectRecord): ProjectView {
  return { id, slug, displayName, createdAt: createdAt.toISOString() };
}

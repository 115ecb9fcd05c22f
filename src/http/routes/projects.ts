import type { ProjectRecord } from '../../services/projects.ts';
import { type ProjectListView, type ProjectView, createTenantBody } from '../../wire/tenancy.ts';
import { type Route, organizationRoute, projectRoute } from '../route.ts';

export const projectRoutes: readonly Route[] = [
  organizationRoute({
    method: 'GET',
    path: '/projects/{org}',
    action: 'project.list',
    takes: {},
    async handle({ projects }, access) {
      const list = await projects.list(access);
      return { status: 200, body: { projects: list.map(projectView), nextCursor: null } satisfies ProjectListView };
    },
  }),
  organizationRoute({
    method: 'POST',
    path: '/projects/{org}',
    action: 'project.create',
    takes: { body: createTenantBody },
    async handle({ projects }, access, { body }) {
      const view = projectView(await projects.create(access, body));
      return { status: 201, body: view, location: `/api/v1/projects/${access.organization}/${view.slug}` };
    },
  }),
  projectRoute({
    method: 'GET',
    path: '/projects/{org}/{project}',
    action: 'project.read',
    takes: {},
    async handle({ projects }, access) {
      return { status: 200, body: projectView(await projects.get(access)) };
    },
  }),
];

function projectView({ id, slug, displayName, createdAt }: ProjectRecord): ProjectView {
  return { id, slug, displayName, createdAt: createdAt.toISOString() };
}

import type { EnvironmentRecord } from '../../services/environments.ts';
import { type EnvironmentListView, type EnvironmentView, createTenantBody } from '../../wire/tenancy.ts';
import { type Route, environmentRoute, projectRoute } from '../route.ts';

export const environmentRoutes: readonly Route[] = [
  projectRoute({
    method: 'GET',
    path: '/environments/{org}/{project}',
    action: 'environment.list',
    takes: {},
    async handle({ environments }, access) {
      const list = await environments.list(access);
      return {
        status: 200,
        body: { environments: list.map(environmentView), nextCursor: null } satisfies EnvironmentListView,
      };
    },
  }),
  projectRoute({
    method: 'POST',
    path: '/environments/{org}/{project}',
    action: 'environment.create',
    takes: { body: createTenantBody },
    async handle({ environments }, access, { body }) {
      const view = environmentView(await environments.create(access, body));
      const location = `/api/v1/environments/${access.organization}/${access.project}/${view.slug}`;
      return { status: 201, body: view, location };
    },
  }),
  environmentRoute({
    method: 'GET',
    path: '/environments/{org}/{project}/{env}',
    action: 'environment.read',
    takes: {},
    async handle({ environments }, access) {
      return { status: 200, body: environmentView(await environments.get(access)) };
    },
  }),
];

function environmentView(record: EnvironmentRecord): EnvironmentView {
  const { id, slug, displayName, createdAt, revision, revisionId } = record;
  return { id, slug, displayName, createdAt: createdAt.toISOString(), revision, revisionId };
}

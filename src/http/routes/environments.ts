import type { EnvironmentRecord } from '../../services/tenancy/environments.ts';
import {
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  purgeEnvironment,
  undeleteEnvironment,
  updateEnvironment,
} from '../../wire/contract/environments.ts';
import type { EnvironmentView } from '../../wire/tenancy.ts';
import { type Route, environmentRoute, instanceRoute, projectRoute } from '../route.ts';

export const environmentRoutes: readonly Route[] = [
  projectRoute({
    ...listEnvironments,
    action: 'environment.list',
    async handle({ access: door, environments }, access, { query: { deleted = false } }) {
      if (!deleted) {
        return {
          status: 200,
          body: { environments: (await environments.list(access)).map(environmentViewOf), nextCursor: null },
        };
      }
      const list = await environments.listDeleted(
        await door.project(access.caller, 'environment.list_deleted', access),
      );
      const views = list.map(({ deletedAt, ...record }) => ({
        ...environmentViewOf(record),
        deletedAt: deletedAt.toISOString(),
      }));
      return { status: 200, body: { environments: views, nextCursor: null } };
    },
  }),
  projectRoute({
    ...createEnvironment,
    action: 'environment.create',
    async handle({ environments }, access, { body }) {
      const view = environmentViewOf(await environments.create(access, body));
      const location = `/api/v1/environments/${access.organization}/${access.project}/${view.slug}`;
      return { status: 201, body: view, location };
    },
  }),
  environmentRoute({
    ...getEnvironment,
    action: 'environment.read',
    async handle({ environments }, access) {
      return { status: 200, body: environmentViewOf(await environments.get(access)) };
    },
  }),
  environmentRoute({
    ...updateEnvironment,
    action: 'environment.update',
    async handle({ environments }, access, { body: { protected: isProtected, ...body } }) {
      const change = isProtected === undefined ? body : { ...body, isProtected };
      const { environment, tokensWithoutAccess } = await environments.update(access, change);
      const lost = tokensWithoutAccess.map(({ id, name, scope }) => ({ id, name, scope }));
      const updated = {
        ...environmentViewOf(environment),
        ...(isProtected === true ? { tokensWithoutAccess: lost } : {}),
      };
      return { status: 200, body: updated };
    },
  }),
  environmentRoute({
    ...deleteEnvironment,
    action: 'environment.delete',
    async handle({ environments }, access) {
      await environments.delete(access);
      return { status: 204 };
    },
  }),
  environmentRoute({
    ...undeleteEnvironment,
    action: 'environment.undelete',
    async handle({ environments }, access) {
      return { status: 200, body: environmentViewOf(await environments.undelete(access)) };
    },
  }),
  instanceRoute({
    ...purgeEnvironment,
    action: 'environment.purge',
    async handle({ environments }, access, { params }) {
      await environments.purge(access, { organization: params.org, project: params.project, environment: params.env });
      return { status: 204 };
    },
  }),
];

/** An environment as the API shows it. */
export function environmentViewOf(record: EnvironmentRecord): EnvironmentView {
  const { id, slug, displayName, createdAt, revision, revisionId, isProtected } = record;
  return { id, slug, displayName, createdAt: createdAt.toISOString(), revision, revisionId, protected: isProtected };
}

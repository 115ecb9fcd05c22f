import type { EnvironmentRecord } from '../../services/tenancy/environments.ts';
import {
  type EnvironmentView,
  createTenantBody,
  environmentListView,
  environmentPath,
  environmentView,
  tenantListQuery,
  updatedEnvironmentView,
  updateEnvironmentBody,
} from '../../wire/tenancy.ts';
import { type Route, environmentRoute, instanceRoute, projectRoute } from '../route.ts';

export const environmentRoutes: readonly Route[] = [
  projectRoute({
    method: 'GET',
    path: '/environments/{org}/{project}',
    action: 'environment.list',
    operation: 'listEnvironments',
    summary: 'List the environments of a project',
    input: { query: tenantListQuery },
    responses: { 200: environmentListView },
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
    method: 'POST',
    path: '/environments/{org}/{project}',
    action: 'environment.create',
    operation: 'createEnvironment',
    summary: 'Create an environment',
    input: { body: createTenantBody },
    responses: { 201: environmentView },
    async handle({ environments }, access, { body }) {
      const view = environmentViewOf(await environments.create(access, body));
      const location = `/api/v1/environments/${access.organization}/${access.project}/${view.slug}`;
      return { status: 201, body: view, location };
    },
  }),
  environmentRoute({
    method: 'GET',
    path: '/environments/{org}/{project}/{env}',
    action: 'environment.read',
    operation: 'getEnvironment',
    summary: 'Get an environment and its newest revision',
    input: {},
    responses: { 200: environmentView },
    async handle({ environments }, access) {
      return { status: 200, body: environmentViewOf(await environments.get(access)) };
    },
  }),
  environmentRoute({
    method: 'PATCH',
    path: '/environments/{org}/{project}/{env}',
    action: 'environment.update',
    operation: 'updateEnvironment',
    summary: 'Change the display name or the protection of an environment',
    input: { body: updateEnvironmentBody },
    responses: { 200: updatedEnvironmentView },
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
    method: 'DELETE',
    path: '/environments/{org}/{project}/{env}',
    action: 'environment.delete',
    operation: 'deleteEnvironment',
    summary: 'Delete an environment and everything in it',
    input: {},
    responses: { 204: null },
    async handle({ environments }, access) {
      await environments.delete(access);
      return { status: 204 };
    },
  }),
  environmentRoute({
    method: 'POST',
    path: '/environments/{org}/{project}/{env}/undelete',
    action: 'environment.undelete',
    operation: 'undeleteEnvironment',
    summary: 'Take the deletion of an environment back',
    input: {},
    responses: { 200: environmentView },
    async handle({ environments }, access) {
      return { status: 200, body: environmentViewOf(await environments.undelete(access)) };
    },
  }),
  instanceRoute({
    method: 'POST',
    path: '/environments/{org}/{project}/{env}/purge',
    action: 'environment.purge',
    operation: 'purgeEnvironment',
    summary: 'Purge a deleted environment',
    input: { params: environmentPath },
    responses: { 204: null },
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

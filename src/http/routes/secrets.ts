import type { SecretValue } from '../../services/secrets.ts';
import {
  type SecretListView,
  type SecretPatchView,
  type SecretView,
  type SecretWriteView,
  patchSecretsBody,
  putSecretBody,
  secretParams,
} from '../../wire/secrets.ts';
import { type Route, environmentRoute } from '../route.ts';

const all = '/secrets/{org}/{project}/{env}';
const one = '/secrets/{org}/{project}/{env}/{key}';

/** docs/interface.md 4.5 */
export const secretRoutes: readonly Route[] = [
  environmentRoute({
    method: 'GET',
    path: all,
    action: 'secret.list',
    takes: {},
    async handle({ secrets }, access) {
      const { secrets: values, revision, revisionId } = await secrets.list(access);
      return { status: 200, body: { secrets: values.map(secretView), revision, revisionId } satisfies SecretListView };
    },
  }),
  environmentRoute({
    method: 'PATCH',
    path: all,
    action: 'secret.write',
    takes: { body: patchSecretsBody },
    async handle({ secrets }, access, { body }) {
      const { set, deleted, unchanged, revision, revisionId } = await secrets.patch(access, body);
      const view = { set: [...set], deleted: [...deleted], unchanged: [...unchanged], revision, revisionId };
      return { status: 200, body: view satisfies SecretPatchView };
    },
  }),
  environmentRoute({
    method: 'GET',
    path: one,
    action: 'secret.read',
    takes: { params: secretParams },
    async handle({ secrets }, access, { params }) {
      return { status: 200, body: secretView(await secrets.get(access, params.key)) };
    },
  }),
  environmentRoute({
    method: 'PUT',
    path: one,
    action: 'secret.write',
    takes: { params: secretParams, body: putSecretBody },
    async handle({ secrets }, access, { params, body }) {
      const { created, updatedAt, ...written } = await secrets.put(access, params.key, body);
      const view = { ...written, updatedAt: updatedAt.toISOString() } satisfies SecretWriteView;
      if (!created) return { status: 200, body: view };
      const { organization, project, environment } = access;
      return {
        status: 201,
        body: view,
        location: `/api/v1/secrets/${organization}/${project}/${environment}/${params.key}`,
      };
    },
  }),
  environmentRoute({
    method: 'DELETE',
    path: one,
    action: 'secret.delete',
    takes: { params: secretParams },
    async handle({ secrets }, access, { params }) {
      await secrets.delete(access, params.key);
      return { status: 204 };
    },
  }),
];

/** The one place where values leave for whoever asked for them. */
function secretView({ key, value, version, updatedAt }: SecretValue): SecretView {
  return { key, value: value.reveal(), version, updatedAt: updatedAt.toISOString() };
}

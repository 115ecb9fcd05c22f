import type { DeletedSecretKey, SecretKey, SecretList, SecretValue } from '../../services/secrets/secret-list.ts';
import { conditionalHeaders } from '../../wire/fields.ts';
import {
  type DeletedSecretView,
  type SecretKeyView,
  type SecretView,
  listedSecretsView,
  patchSecretsBody,
  putSecretBody,
  secretListQuery,
  secretParams,
  secretPatchView,
  secretQuery,
  secretView,
  secretWriteView,
} from '../../wire/secrets.ts';
import { bodyLimits } from '../../wire/contract/body-limits.ts';
import { entityTag, isKnownTag } from '../response/entity-tag.ts';
import { type Route, environmentRoute } from '../route.ts';

const all = '/secrets/{org}/{project}/{env}';
const one = '/secrets/{org}/{project}/{env}/{key}';

/** docs/interface.md 4.5 */
export const secretRoutes: readonly Route[] = [
  environmentRoute({
    method: 'GET',
    path: all,
    action: 'secret.list',
    operation: 'listSecrets',
    summary: 'Read the secrets of an environment',
    input: { query: secretListQuery, headers: conditionalHeaders },
    responses: { 200: listedSecretsView, 304: null },
    async handle(
      { secrets },
      access,
      { query: { deleted = false, values = !deleted, skipDestroyed = false, ...selection }, headers, room },
    ) {
      const condition = headers['if-none-match'];
      if (condition !== undefined) {
        const tag = tagOf(await secrets.revisionIdOf(access, { ...selection, values }));
        if (tag !== undefined && isKnownTag(condition, tag)) {
          await secrets.auditUnchanged(access, { ...selection, values, deleted });
          return { status: 304, headers: { ETag: tag } };
        }
      }
      const list = deleted
        ? viewOfList(await secrets.listDeletedKeys(access, selection), viewOfDeletedKey)
        : values
          ? viewOfList(await secrets.list(access, { ...selection, skipDestroyed, room }), viewOf)
          : viewOfList(await secrets.listKeys(access, selection), viewOfKey);
      return { status: 200, body: list, headers: { ETag: entityTag(list.revisionId) } };
    },
  }),
  environmentRoute({
    method: 'PATCH',
    path: all,
    action: 'secret.write',
    operation: 'patchSecrets',
    summary: 'Set and delete several secrets in one change',
    input: { body: patchSecretsBody, bodyLimits: bodyLimits.values },
    responses: { 200: secretPatchView },
    async handle({ secrets }, access, { body }) {
      const { set, deleted, unchanged, revision, revisionId } = await secrets.patch(access, body);
      const view = { set: [...set], deleted: [...deleted], unchanged: [...unchanged], revision, revisionId };
      return { status: 200, body: view };
    },
  }),
  environmentRoute({
    method: 'GET',
    path: one,
    action: 'secret.read',
    operation: 'getSecret',
    summary: 'Read a secret',
    input: { params: secretParams, query: secretQuery, headers: conditionalHeaders },
    responses: { 200: secretView, 304: null },
    async handle({ secrets }, access, { params, query, headers }) {
      const condition = headers['if-none-match'];
      if (condition !== undefined) {
        const tag = entityTag(await secrets.versionIdOf(access, params.key, query));
        if (isKnownTag(condition, tag)) {
          await secrets.auditUnchanged(access, { ...params, ...query });
          return { status: 304, headers: { ETag: tag } };
        }
      }
      const secret = await secrets.get(access, params.key, query);
      return { status: 200, body: viewOf(secret), headers: { ETag: entityTag(secret.versionId) } };
    },
  }),
  environmentRoute({
    method: 'PUT',
    path: one,
    action: 'secret.write',
    operation: 'putSecret',
    summary: 'Set a secret',
    input: { params: secretParams, body: putSecretBody, bodyLimits: bodyLimits.value },
    responses: { 200: secretWriteView, 201: secretWriteView },
    async handle({ secrets }, access, { params, body }) {
      const { created, updatedAt, ...written } = await secrets.put(access, params.key, body);
      const view = { ...written, updatedAt: updatedAt.toISOString() };
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
    operation: 'deleteSecret',
    summary: 'Delete a secret; its history is kept',
    input: { params: secretParams },
    responses: { 204: null },
    async handle({ secrets }, access, { params }) {
      await secrets.delete(access, params.key);
      return { status: 204 };
    },
  }),
];

function tagOf(revisionId: string | undefined): string | undefined {
  return revisionId === undefined ? undefined : entityTag(revisionId);
}

/** A list with or without values. */
function viewOfList<Secret, View>(
  { secrets, revision, revisionId }: SecretList<Secret>,
  view: (secret: Secret) => View,
): { secrets: View[]; revision: number; revisionId: string } {
  return { secrets: secrets.map(view), revision, revisionId };
}

function viewOfKey({ updatedAt, ...secret }: SecretKey): SecretKeyView {
  return { ...secret, updatedAt: updatedAt.toISOString() };
}

function viewOfDeletedKey({ updatedAt, deletedAt, ...deletion }: DeletedSecretKey): DeletedSecretView {
  return { ...deletion, updatedAt: updatedAt.toISOString(), deletedAt: deletedAt.toISOString() };
}

/** The only place where values are revealed to a caller. */
function viewOf({ key, value, version, updatedAt }: SecretValue): SecretView {
  return { key, value: value.reveal(), version, updatedAt: updatedAt.toISOString() };
}

import type { DeletedSecretKey, SecretKey, SecretList, SecretValue } from '../../services/secrets/secret-list.ts';
import { deleteSecret, getSecret, listSecrets, patchSecrets, putSecret } from '../../wire/contract/secrets.ts';
import type { DeletedSecretView, SecretKeyView, SecretView } from '../../wire/secrets.ts';
import { entityTag, isKnownTag } from '../response/entity-tag.ts';
import { type Route, environmentRoute } from '../route.ts';

/** docs/interface.md 4.5 */
export const secretRoutes: readonly Route[] = [
  environmentRoute({
    ...listSecrets,
    action: 'secret.list',
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
    ...patchSecrets,
    action: 'secret.write',
    async handle({ secrets }, access, { body }) {
      const { set, deleted, unchanged, revision, revisionId } = await secrets.patch(access, body);
      const view = { set: [...set], deleted: [...deleted], unchanged: [...unchanged], revision, revisionId };
      return { status: 200, body: view };
    },
  }),
  environmentRoute({
    ...getSecret,
    action: 'secret.read',
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
    ...putSecret,
    action: 'secret.write',
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
    ...deleteSecret,
    action: 'secret.delete',
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

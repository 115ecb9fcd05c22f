import type { VersionRecord } from '../../services/secrets/versions.ts';
import { destroyVersion, getVersion, listVersions, rollbackSecret } from '../../wire/contract/versions.ts';
import type { VersionView } from '../../wire/versions.ts';
import { replayed } from '../request/idempotency.ts';
import { type Route, environmentRoute } from '../route.ts';

/** docs/interface.md 4.6, 4.7 and 4.11 */
export const versionRoutes: readonly Route[] = [
  environmentRoute({
    ...listVersions,
    action: 'version.list',
    async handle({ versions }, access, { params, query }) {
      const list = await versions.list(access, params.key, query);
      const { deletedAt, deletedBy, deletedByType, deletedByName, deletedByCluster, nextCursor } = list;
      const view = {
        versions: list.versions.map(versionView),
        deletedAt: deletedAt?.toISOString() ?? null,
        deletedBy,
        deletedByType,
        deletedByName,
        deletedByCluster,
        nextCursor,
      };
      return { status: 200, body: view };
    },
  }),
  // Before the routes of versions, whose path matches too.
  environmentRoute({
    ...rollbackSecret,
    action: 'version.rollback',
    async handle({ versions }, access, { params, body, idempotencyKey: idempotency }) {
      const made = await versions.rollback(access, params.key, { ...body, idempotency });
      const { revision, revisionId, ...version } = made;
      const view = { ...versionView(version), revision, revisionId };
      if (made.replayed === true) return replayed(view);
      const { organization, project, environment } = access;
      const location = `/api/v1/versions/${organization}/${project}/${environment}/${params.key}/${version.version}`;
      return { status: 201, body: view, location };
    },
  }),
  environmentRoute({
    ...getVersion,
    action: 'version.read',
    async handle({ versions }, access, { params }) {
      const { value, ...version } = await versions.get(access, params.key, params.version);
      const view = { ...versionView(version), value: value.reveal() };
      return { status: 200, body: view };
    },
  }),
  environmentRoute({
    ...destroyVersion,
    action: 'version.destroy',
    async handle({ destructions }, access, { params: { key, version }, body }) {
      const { destroyedVersions, ...record } = await destructions.destroy(access, key, { version, ...body });
      return { status: 200, body: { ...versionView(record), destroyedVersions: [...destroyedVersions] } };
    },
  }),
];

function versionView(record: VersionRecord): VersionView {
  return {
    version: record.version,
    changeType: record.changeType,
    changedBy: record.changedBy,
    changedByType: record.changedByType,
    changedByName: record.changedByName,
    changedByCluster: record.changedByCluster,
    comment: record.comment,
    createdAt: record.createdAt.toISOString(),
    destroyedAt: record.destroyedAt?.toISOString() ?? null,
    destroyedBy: record.destroyedBy,
    destroyedByType: record.destroyedByType,
    destroyedByName: record.destroyedByName,
  };
}

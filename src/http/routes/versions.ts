import type { VersionRecord } from '../../services/secrets/versions.ts';
import {
  type VersionView,
  destroyBody,
  destroyedVersionView,
  rollbackBody,
  rollbackView,
  versionListView,
  versionParams,
  versionWithValueView,
} from '../../wire/versions.ts';
import { pageQuery } from '../../wire/page.ts';
import { secretParams } from '../../wire/secrets.ts';
import { replayed } from '../request/idempotency.ts';
import { type Route, environmentRoute } from '../route.ts';

const all = '/versions/{org}/{project}/{env}/{key}';

/** docs/interface.md 4.6, 4.7 and 4.11 */
export const versionRoutes: readonly Route[] = [
  environmentRoute({
    method: 'GET',
    path: all,
    action: 'version.list',
    operation: 'listVersions',
    summary: 'List the versions of a secret, newest first',
    input: { params: secretParams, query: pageQuery },
    responses: { 200: versionListView },
    async handle({ versions }, access, { params, query }) {
      const list = await versions.list(access, params.key, query);
      const view = { versions: list.versions.map(versionView), nextCursor: list.nextCursor };
      return { status: 200, body: view };
    },
  }),
  // Before the routes of versions, whose path matches too.
  environmentRoute({
    method: 'POST',
    path: `${all}/rollback`,
    action: 'version.rollback',
    operation: 'rollbackSecret',
    summary: 'Roll back a secret to an earlier version',
    input: { params: secretParams, body: rollbackBody, idempotencyKey: true },
    responses: { 201: rollbackView, 200: rollbackView },
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
    method: 'GET',
    path: `${all}/{version}`,
    action: 'version.read',
    operation: 'getVersion',
    summary: 'Read one version of a secret with its value',
    input: { params: versionParams },
    responses: { 200: versionWithValueView },
    async handle({ versions }, access, { params }) {
      const { value, ...version } = await versions.get(access, params.key, params.version);
      const view = { ...versionView(version), value: value.reveal() };
      return { status: 200, body: view };
    },
  }),
  environmentRoute({
    method: 'POST',
    path: `${all}/{version}/destroy`,
    action: 'version.destroy',
    operation: 'destroyVersion',
    summary: 'Permanently destroy the value of one version; its record is kept',
    input: { params: versionParams, body: destroyBody },
    responses: { 200: destroyedVersionView },
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
    comment: record.comment,
    createdAt: record.createdAt.toISOString(),
    destroyedAt: record.destroyedAt?.toISOString() ?? null,
    destroyedBy: record.destroyedBy,
    destroyedByType: record.destroyedByType,
    destroyedByName: record.destroyedByName,
  };
}

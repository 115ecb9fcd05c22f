import type { VersionRecord } from '../../services/versions.ts';
import {
  type RollbackView,
  type VersionListView,
  type VersionView,
  type VersionWithValueView,
  rollbackBody,
  versionParams,
} from '../../wire/versions.ts';
import { pageQuery } from '../../wire/page.ts';
import { secretParams } from '../../wire/secrets.ts';
import { type Route, environmentRoute } from '../route.ts';

const all = '/versions/{org}/{project}/{env}/{key}';

/** docs/interface.md 4.6 and 4.7 */
export const versionRoutes: readonly Route[] = [
  environmentRoute({
    method: 'GET',
    path: all,
    action: 'version.list',
    takes: { params: secretParams, query: pageQuery },
    async handle({ versions }, access, { params, query }) {
      const list = await versions.list(access, params.key, query);
      const view: VersionListView = { versions: list.versions.map(versionView), nextCursor: list.nextCursor };
      return { status: 200, body: view };
    },
  }),
  // Before the versions: its path is one of theirs as well.
  environmentRoute({
    method: 'POST',
    path: `${all}/rollback`,
    action: 'version.rollback',
    takes: { params: secretParams, body: rollbackBody },
    async handle({ versions }, access, { params, body }) {
      const { revision, revisionId, ...version } = await versions.rollback(access, params.key, body);
      const view: RollbackView = { ...versionView(version), revision, revisionId };
      const { organization, project, environment } = access;
      const location = `/api/v1/versions/${organization}/${project}/${environment}/${params.key}/${version.version}`;
      return { status: 201, body: view, location };
    },
  }),
  environmentRoute({
    method: 'GET',
    path: `${all}/{version}`,
    action: 'version.read',
    takes: { params: versionParams },
    async handle({ versions }, access, { params }) {
      const { value, ...version } = await versions.get(access, params.key, params.version);
      const view: VersionWithValueView = { ...versionView(version), value: value.reveal() };
      return { status: 200, body: view };
    },
  }),
];

function versionView(record: VersionRecord): VersionView {
  const { version, changeType, changedBy, changedByType, changedByName, comment, createdAt } = record;
  return { version, changeType, changedBy, changedByType, changedByName, comment, createdAt: createdAt.toISOString() };
}

import { beforeAll, describe, expect, test } from '@jest/globals';
import type { TestApi } from '../../../support/api/http.ts';
import type { ActorName } from './actors.ts';
import { rows } from './expectations.ts';
import { seedKey } from './places.ts';
import type { Site } from './site.ts';
import { withSite } from './with-site.ts';

let api: TestApi;
let site: Site;

withSite((given) => ({ api, site } = given));

const namespace = 'canary-namespace';
const cluster = 'canary-cluster';

/** Everything in the own environment was done by a custom resource, or with the token of a ServiceToken. */
beforeAll(async () => {
  const { environmentId, serviceTokenId, snapshotId } = site.places.own;
  const sql = async (text: string, ...values: unknown[]): Promise<void> => {
    await api.services.database.pool.query(text, values);
  };
  const resource = `SnapshotRestore ${namespace}/nightly`;
  await sql(
    `UPDATE environment_revision SET actor_type = 'resource', actor_name = $2, actor_cluster = $3,
       comment = 'restored by ' || $2
     WHERE environment_id = $1 AND number > 1`,
    environmentId,
    resource,
    cluster,
  );
  await sql(
    `UPDATE secret_version v SET changed_by_type = 'resource', changed_by_name = $2, changed_by_cluster = $3,
       comment = 'restored by ' || $2,
       destroyed_by_type = CASE WHEN v.destroyed_at IS NULL THEN NULL ELSE 'resource'::actor_type END
     FROM secret s WHERE s.id = v.secret_id AND s.environment_id = $1`,
    environmentId,
    resource,
    cluster,
  );
  await sql(
    `UPDATE snapshot SET created_by_type = 'resource', created_by_name = $2, created_by_cluster = $3,
       description = 'by ' || $2 WHERE id = $1`,
    snapshotId,
    resource,
    cluster,
  );
  // The first revision was written with the token of a ServiceToken.
  await sql(`UPDATE service_token SET created_by_type = 'resource' WHERE id = $1`, serviceTokenId);
  await sql(
    `UPDATE environment_revision SET actor_type = 'service_token', actor_id = $2, actor_name = $3
     WHERE environment_id = $1 AND number = 1`,
    environmentId,
    serviceTokenId,
    `${namespace}/ci`,
  );
});

const reads = rows.filter(({ method }) => method === 'GET');

async function textsFor(name: ActorName): Promise<readonly [string, string][]> {
  const actor = site.actor(name);
  const allowed = reads.filter(({ statuses }) => statuses[name] < 300);
  return Promise.all(
    allowed.map(async (row) => {
      const reply = await site.send(await site.prepare(row, site.places.own, { actor, succeeds: true }));
      return [row.name, reply.text] as [string, string];
    }),
  );
}

describe('the namespace and the cluster of a custom resource', () => {
  const readers: readonly ActorName[] = [
    'viewer',
    'organization-r',
    'project-r',
    'environment-r',
    'project-viewer',
    'environment-viewer',
  ];

  test.each(readers)('are in no response to %s', async (name) => {
    const shown = (await textsFor(name)).filter(([, text]) => text.includes(namespace) || text.includes(cluster));
    expect(shown.map(([row]) => row)).toEqual([]);
  });

  test.each(['viewer', 'environment-r'] as const)('are only left out for %s, who sees kind and name', async (name) => {
    const texts = new Map(await textsFor(name));
    for (const [row, shown] of [
      ['GET /changes/{org}/{project}/{env}', '"restored by SnapshotRestore nightly"'],
      ['GET /changes/{org}/{project}/{env}', '"changedByName":"ci"'],
      ['GET /versions/{org}/{project}/{env}/{key}', '"changedByName":"SnapshotRestore nightly"'],
      ['GET /versions/{org}/{project}/{env}/{key}/{version}', '"changedByName":"SnapshotRestore nightly"'],
      ['GET /secrets/{org}/{project}/{env} [filtered]', '"updatedByName":"SnapshotRestore nightly"'],
      ['GET /snapshots/{org}/{project}/{env}', '"createdByName":"SnapshotRestore nightly"'],
      ['GET /snapshots/{org}/{project}/{env}/{id}', '"by SnapshotRestore nightly"'],
      ['GET /snapshots/{id}', '"createdByName":"SnapshotRestore nightly"'],
    ] as const) {
      expect([row, texts.get(row)]).toEqual([row, expect.stringContaining(shown)]);
    }
  });

  test.each(['developer', 'environment-rw'] as const)('are shown to %s', async (name) => {
    const texts = new Map(await textsFor(name));
    for (const [row, field] of [
      ['GET /changes/{org}/{project}/{env}', 'changedBy'],
      ['GET /versions/{org}/{project}/{env}/{key}', 'changedBy'],
      ['GET /versions/{org}/{project}/{env}/{key}/{version}', 'changedBy'],
      ['GET /secrets/{org}/{project}/{env} [filtered]', 'updatedBy'],
      ['GET /snapshots/{org}/{project}/{env}', 'createdBy'],
      ['GET /snapshots/{org}/{project}/{env}/{id}', 'createdBy'],
      ['GET /snapshots/{id}', 'createdBy'],
    ] as const) {
      const shown = `"${field}Name":"SnapshotRestore ${namespace}/nightly","${field}Cluster":"${cluster}"`;
      expect([row, texts.get(row)]).toEqual([row, expect.stringContaining(shown)]);
    }
    expect(texts.get('GET /changes/{org}/{project}/{env}')).toContain(`"changedByName":"${namespace}/ci"`);
  });

  test('are in no deletion of a key that a viewer sees', async () => {
    const { organization, project, environment } = site.places.own;
    const path = `/secrets/${organization}/${project}/${environment}`;
    const owner = { authorization: site.actor('owner').authorization };
    const key = `${seedKey}_GONE`;
    await api.client().send('PUT', `${path}/${key}`, { value: 'x' }, owner);
    await api.client().send('DELETE', `${path}/${key}`, undefined, owner);
    await api.services.database.pool.query(
      `UPDATE environment_revision SET actor_type = 'resource', actor_name = $2, actor_cluster = $3
       WHERE environment_id = $1 AND number > 1`,
      [site.places.own.environmentId, `SnapshotRestore ${namespace}/nightly`, cluster],
    );
    const viewer = { authorization: site.actor('viewer').authorization };
    for (const read of [`${path}?deleted=true`, `${path.replace('/secrets/', '/versions/')}/${key}?limit=1`]) {
      const { text } = await api.client().send('GET', read, undefined, viewer);
      expect(text).toContain('"deletedByName":"SnapshotRestore nightly"');
      expect(text).not.toContain(namespace);
      expect(text).not.toContain(cluster);
      const { text: whole } = await api.client().send('GET', read, undefined, owner);
      expect(whole).toContain(`"deletedByCluster":"${cluster}"`);
    }
  });
});

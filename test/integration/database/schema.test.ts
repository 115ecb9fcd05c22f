import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { StoreFixtures } from '../../support/database/store-fixtures.ts';

let server: TestDatabase;
let pool: pg.Pool;
let fixtures: StoreFixtures;

beforeAll(async () => {
  server = await createTestDatabase();
  pool = new pg.Pool({ connectionString: server.url });
  // Its sessions may be ended with the database, after the pool.
  pool.on('error', () => undefined);
  fixtures = new StoreFixtures(pool);
});

afterAll(async () => {
  await pool.end();
  await server.drop();
});

describe('the database refuses by itself', () => {
  const tokenOf = (scope: string, project: string | null, environment: string | null): [string, unknown[]] => [
    `INSERT INTO service_token (id, organization_id, name, scope, project_id, environment_id, permission, created_by_id,
       created_by_type, created_by_name) VALUES ($1, $2, 'x', $3, $4, $5, 'read', $1, 'user', 'x')`,
    [randomUUID(), undefined, scope, project, environment],
  ];

  test('a service token whose project and environment do not fit its scope', async () => {
    const { organizationId, projectId, environmentId } = await fixtures.environment();
    const misfits = [
      tokenOf('organization', projectId, null),
      tokenOf('organization', null, environmentId),
      tokenOf('project', null, null),
      tokenOf('project', projectId, environmentId),
      tokenOf('environment', projectId, null),
      tokenOf('environment', null, environmentId),
    ];
    for (const [text, [id, , ...rest]] of misfits) {
      const insertion = pool.query(text, [id, organizationId, ...rest]);
      await expect(insertion).rejects.toMatchObject({ constraint: 'service_token_scope_fits' });
    }
    for (const [text, [id, , ...rest]] of [
      tokenOf('organization', null, null),
      tokenOf('project', projectId, null),
      tokenOf('environment', projectId, environmentId),
    ]) {
      await expect(pool.query(text, [id, organizationId, ...rest])).resolves.toBeDefined();
    }
  });

  test('malformed slugs and keys, and numbers that cannot be', async () => {
    const { organizationId, environmentId } = await fixtures.environment();
    const statements: [string, string][] = [
      ['organization_slug_form', `UPDATE organization SET slug = 'No' WHERE id = '${organizationId}'`],
      ['project_slug_form', `UPDATE project SET slug = '-a' WHERE organization_id = '${organizationId}'`],
      ['environment_slug_form', `UPDATE environment SET slug = repeat('a', 64) WHERE id = '${environmentId}'`],
      ['environment_revision_counts', `UPDATE environment SET revision_number = -1 WHERE id = '${environmentId}'`],
      [
        'secret_key_form',
        `INSERT INTO secret (id, environment_id, key, version, current_version_id, updated_at)
         VALUES (gen_random_uuid(), '${environmentId}', 'a/b', 1, gen_random_uuid(), now())`,
      ],
    ];
    for (const [constraint, statement] of statements) {
      await expect(pool.query(statement)).rejects.toMatchObject({ constraint });
    }
  });
});

test('a database has one instance, with an id of 26 random characters', async () => {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM instance');
  expect(rows).toEqual([{ id: expect.stringMatching(/^[a-z2-7]{26}$/) }]);
  const id = rows[0]?.id ?? '';
  expect(new Set(id).size).toBeGreaterThan(8);
  await expect(pool.query(`INSERT INTO instance (row_id, id) VALUES (2, 'x')`)).rejects.toMatchObject({
    constraint: 'instance_once',
  });
});

describe('an issuer', () => {
  const insert = (fields: Readonly<Record<string, string>>) => {
    const given = { id: randomUUID(), preset: 'none', iss: 'x', algorithms: '{}', max_age_seconds: '1', ...fields };
    const places = Object.keys(given).map((_, index) => `$${index + 1}`);
    const text = `INSERT INTO trusted_issuer (${Object.keys(given).join(', ')}) VALUES (${places.join(', ')})`;
    return pool.query(text, Object.values(given));
  };

  test.each([
    ['a name and a cluster', { name: 'both', cluster: 'both', keys: '{}' }, 'trusted_issuer_name_or_cluster'],
    ['neither a name nor a cluster', { keys: '{}' }, 'trusted_issuer_name_or_cluster'],
    ['neither keys nor a URL', { name: 'bare' }, 'trusted_issuer_has_keys'],
  ])('is refused with %s', async (_, fields, constraint) => {
    await expect(insert(fields)).rejects.toMatchObject({ constraint });
  });

  test('leaves the federations that it proved, without an issuer, and an audience is free once its federation ended', async () => {
    const { organizationId, projectId, environmentId } = await fixtures.environment();
    const issuer = randomUUID();
    await insert({ id: issuer, name: 'github', jwks_url: 'https://issuer.example/keys' });
    const federate = async () => {
      const { credentialId } = await fixtures.serviceToken({ organizationId, projectId, environmentId });
      await pool.query(
        `INSERT INTO service_token_federation (credential_id, issuer_id, issuer_name, generation, audience, claims)
         VALUES ($1, $2, 'github', 1, 'audience', '{}')`,
        [credentialId, issuer],
      );
    };
    await federate();
    await expect(federate()).rejects.toMatchObject({ constraint: 'service_token_federation_live_audience' });
    await pool.query(`UPDATE service_token_federation SET ended_at = now()`);
    await federate();
    await pool.query('DELETE FROM trusted_issuer WHERE id = $1', [issuer]);
    const { rows } = await pool.query('SELECT issuer_id, issuer_name FROM service_token_federation');
    const left = { issuer_id: null, issuer_name: 'github' };
    expect(rows).toEqual([left, left]);
    await pool.query('DELETE FROM organization WHERE id = $1', [organizationId]);
    expect((await pool.query('SELECT FROM service_token_federation')).rowCount).toBe(0);
  });
});

test('removing an organization removes all below it, whatever refers to what, and keeps the audit', async () => {
  const { organizationId, projectId, environmentId, revisionId } = await fixtures.environment();
  await fixtures.serviceToken({ organizationId, projectId, environmentId });
  const [secretId, versionId, snapshotId, keyId] = Array.from({ length: 4 }, () => randomUUID());
  const statements: [string, unknown[]][] = [
    [`INSERT INTO data_key (id, project_id, wrapped_key, root_key_id) VALUES ($1, $2, '', 'r')`, [keyId, projectId]],
    [
      `INSERT INTO secret (id, environment_id, key, version, current_version_id, updated_at) VALUES ($1, $2, 'A', 1, $3, now())`,
      [secretId, environmentId, versionId],
    ],
    [
      `INSERT INTO secret_version (id, secret_id, version, change_type, changed_by_id, changed_by_type, changed_by_name,
         ciphertext, data_key_id, value_mac, value_bytes) VALUES ($1, $2, 1, 'created', $1, 'user', 'x', $4, $3, $4, 1)`,
      [versionId, secretId, keyId, randomBytes(4)],
    ],
    [
      `INSERT INTO environment_revision (id, environment_id, number, actor_id, actor_type, actor_name)
       VALUES ($1, $2, 1, $1, 'user', 'x')`,
      [revisionId, environmentId],
    ],
    [
      'INSERT INTO secret_change (revision_id, secret_id, revision_number, version_id) VALUES ($1, $2, 1, $3)',
      [revisionId, secretId, versionId],
    ],
    [
      `INSERT INTO snapshot (id, environment_id, revision_id, secret_count, created_by_id, created_by_type, created_by_name)
       VALUES ($1, $2, $3, 1, $1, 'user', 'x')`,
      [snapshotId, environmentId, revisionId],
    ],
    [
      'INSERT INTO snapshot_entry (snapshot_id, secret_id, version_id) VALUES ($1, $2, $3)',
      [snapshotId, secretId, versionId],
    ],
    [
      `INSERT INTO audit_entry (organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id)
       VALUES ($1, 'user', $1, 'x', 'x', '{}', 'success', $1)`,
      [organizationId],
    ],
  ];
  for (const [text, values] of statements) await pool.query(text, values);
  await expect(pool.query('DELETE FROM data_key WHERE id = $1', [keyId])).rejects.toMatchObject({ code: '23503' });
  await expect(pool.query('DELETE FROM secret_version WHERE id = $1', [versionId])).rejects.toMatchObject({
    code: '23503',
  });
  await pool.query(
    `BEGIN; SET CONSTRAINTS ALL DEFERRED; DELETE FROM organization WHERE id = '${organizationId}'; COMMIT`,
  );
  const { rows } = await pool.query(
    `SELECT (SELECT count(*)::int FROM audit_entry WHERE organization_id = $1) AS audited,
       (SELECT count(*)::int FROM secret_version WHERE id = $2) AS versions,
       (SELECT count(*)::int FROM snapshot WHERE id = $3) AS snapshots,
       (SELECT count(*)::int FROM data_key WHERE id = $4) AS keys`,
    [organizationId, versionId, snapshotId, keyId],
  );
  expect(rows).toEqual([{ audited: 1, versions: 0, snapshots: 0, keys: 0 }]);
});

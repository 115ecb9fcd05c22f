/** `npm run record-release`: records what this checkout publishes as test/released/<version>. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { ownRelease } from '../../src/lib/release.ts';
import { checkoutDirectory } from '../checkout.ts';
import { ensureBinaries } from '../devcluster/cluster/build.ts';
import { type PostgresServer, startPostgres } from '../devcluster/postgres/server.ts';
import { recordDatabase } from './database.ts';
import { pack, packProgram } from './program.ts';
import { recordMigrations } from './migrations.ts';

const release = ownRelease();
const folder = join(checkoutDirectory, 'test', 'released', release);
const inCheckout = (...parts: readonly string[]): string => join(checkoutDirectory, ...parts);

/** The chart's package, and what it renders with the values that it needs. */
async function recordChart(): Promise<void> {
  const { helm } = await ensureBinaries(['helm'], { env: process.env, output: process.stderr });
  const env = { HOME: '/nonexistent' };
  const chart = inCheckout('charts', 'keyframe');
  execFileSync(helm, ['package', chart, '--destination', folder], { env });
  const values = ['--set', 'image.repository=registry.example.com/keyframe,bootstrap.adminEmail=admin@keyframe.test'];
  const rendered = execFileSync(helm, ['template', 'keyframe', chart, '--namespace', 'keyframe', ...values], { env });
  writeFileSync(join(folder, 'rendering.yaml'), rendered);
}

/** Makes an empty database, and returns its URL. */
async function createDatabase(server: PostgresServer): Promise<string> {
  const name = `recorded_${randomBytes(4).toString('hex')}`;
  const client = new pg.Client({ connectionString: server.urlOf('postgres') });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return server.urlOf(name);
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
cpSync(inCheckout('crds'), join(folder, 'crds'), { recursive: true });
cpSync(inCheckout('test', 'support', 'fixtures', 'every-field'), join(folder, 'objects'), { recursive: true });
cpSync(inCheckout('docs', 'openapi.json'), join(folder, 'openapi.json'));
await recordChart();
writeFileSync(join(folder, 'server.js.br'), await packProgram());
const postgres = await startPostgres({ durable: false });
try {
  const recorded = await recordDatabase(() => createDatabase(postgres));
  writeFileSync(join(folder, 'database.json.br'), pack(JSON.stringify(recorded)));
} finally {
  await postgres.stop();
}
await recordMigrations(release);
console.log(`recorded ${release} in ${folder}`);

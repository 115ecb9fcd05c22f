import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { everyField } from '../../support/cluster/released.ts';
import { type Manifest, manifests } from '../../support/fixtures/manifests.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

/** The JSON schemas of the custom resources, which editors and kubeconform read. */

const folder = join(checkoutDirectory, 'docs', 'schemas', 'keyframe.dev');
const schemas = new Map(
  readdirSync(folder).map((file) => {
    const schema = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Parameters<typeof z.fromJSONSchema>[0];
    return [file, z.fromJSONSchema(schema)];
  }),
);

function faultOf(object: Pick<Manifest, 'kind' | 'apiVersion'> & { readonly spec?: object }): string | undefined {
  const version = object.apiVersion?.split('/')[1] ?? '';
  const schema = schemas.get(`${object.kind?.toLowerCase() ?? ''}_${version}.json`);
  if (schema === undefined) return `no schema of ${object.kind ?? ''}`;
  return schema.safeParse(object).error?.message;
}

const ours = manifests.filter(({ apiVersion = '' }) => apiVersion.startsWith('keyframe.dev/'));

test('take each resource of the pages and examples, and one with every field', () => {
  expect(ours.length).toBeGreaterThan(80);
  const plain = ours.map(({ source: _source, ...object }) => object);
  const refused = [...plain, ...nonEmpty(everyField())].flatMap((object) => faultOf(object) ?? []);
  expect(refused).toEqual([]);
});

test.each([
  ['an unknown field', { spec: { enviromentRef: {} } }, 'enviromentRef'],
  ['a field of another type', { spec: { sources: 'web' } }, 'sources'],
  ['another version', { apiVersion: 'keyframe.dev/v9' }, 'no schema'],
  ['another kind', { kind: 'SecretSink' }, 'no schema'],
])('refuse %s', (_what, change, named) => {
  const sync = ours.find(({ kind }) => kind === 'SecretSync');
  const { source: _source, ...object } = { ...sync, ...change };
  expect(faultOf(object)).toContain(named);
});

const place = { organization: 'acme', project: 'web', environments: ['*'] };
const environmentRef = { organization: 'acme', project: 'web', name: 'production' };
const rename = (to: string): object => ({ keys: { rename: [{ from: 'DATABASE_URL', to }] } });

test.each([
  ['a slug', 'SecretSync', { environmentRef }, { environmentRef: { ...environmentRef, name: 'Production' } }],
  ['a choice of forms', 'AccessGrant', { rules: [place] }, { rules: [{ ...place, project: 'web*' }] }],
  ['a form beside more conditions', 'SecretSync', rename('db.url'), rename('db/url')],
  ['the name of a Secret', 'SecretSync', { target: { name: 'web.tls' } }, { target: { name: 'web_tls' } }],
  ['a glob', 'SecretSync', { keys: { include: ['APP_*'] } }, { keys: { include: ['APP/*'] } }],
])('know %s, which a rule of the definition has', (_what, kind, allowed, refused) => {
  const object = { apiVersion: 'keyframe.dev/v1alpha1', kind, metadata: { name: 'web' } };
  expect(faultOf({ ...object, spec: allowed })).toBeUndefined();
  expect(faultOf({ ...object, spec: refused })).toContain('must match pattern');
});

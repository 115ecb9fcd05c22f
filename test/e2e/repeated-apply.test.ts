/** @default An AccessGrant that kubectl applies again gets no patch. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { type AuditEntry, readAuditLog, sharedAuditLog } from '../support/cluster/audit-log.ts';
import { sharedCluster } from '../support/cluster/cluster.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { manifests } from '../support/fixtures/manifests.ts';

/**
 * kubectl and Argo CD compare a manifest with the stored object by a three-way merge, which replaces a list as a whole. A
 * default within a list would differ from the manifest for ever: each apply would patch it, and Argo CD would report it.
 */

const folder = mkdtempSync(join(tmpdir(), 'keyframe-apply-'));

afterAll(() => rmSync(folder, { recursive: true }));

const kinds = ['ServiceToken', 'SecretSync', 'SecretSnapshot'];
const rules = [
  { organization: 'acme', project: 'web', environments: ['staging', 'production'], permission: 'ReadWrite', kinds },
  { organization: 'acme', project: 'web', environments: ['*'] },
];
const matchExpressions = [{ key: 'team', operator: 'In', values: ['nowhere', 'no-one'] }];
// All lists that an AccessGrant can have, with and without the fields that have defaults.
const withEveryList = [
  { namespaces: ['nowhere', 'no-one'], rules },
  { namespaceSelector: { matchExpressions }, rules },
];

test('the AccessGrants of all pages and examples, and those with every list, are patched by no second apply', async () => {
  const shown = manifests.filter(({ kind }) => kind === 'AccessGrant').map(({ spec }) => spec);
  expect(shown.length).toBeGreaterThan(15);
  const names = [...shown, ...withEveryList].map((_, index) => `applied-${index}-${process.pid}`);
  const grants = [...shown, ...withEveryList].map((spec, index) =>
    stringify({ apiVersion: 'keyframe.dev/v1alpha1', kind: 'AccessGrant', metadata: { name: names[index] }, spec }),
  );
  const file = join(folder, 'grants.yaml');
  writeFileSync(file, grants.join('---\n'));
  const kubectl = (...args: readonly string[]): Promise<string> => runKubectl(sharedCluster(), [...args, '-f', file]);
  const isOurs = ({ objectRef, verb }: AuditEntry): boolean =>
    objectRef?.resource === 'accessgrants' &&
    objectRef.subresource === undefined &&
    names.includes(objectRef.name ?? '') &&
    verb !== 'get';

  const before = await sharedAuditLog().mark();
  await kubectl('apply');
  const printed = await kubectl('apply');
  const writes = (await readAuditLog(before)).filter(isOurs);
  await kubectl('delete', '--wait=false');

  expect(printed.trim().split('\n')).toEqual(names.map((name) => `accessgrant.keyframe.dev/${name} unchanged`));
  expect(writes.map(({ verb, objectRef }) => `${verb} ${objectRef?.name}`)).toEqual(
    names.map((name) => `create ${name}`),
  );
});

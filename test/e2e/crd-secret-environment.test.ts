/** @default The API server fills in the defaults of a SecretEnvironment, refuses what is wrong, and keeps its immutable fields. */
import { describe, expect, test } from '@jest/globals';
import { ResourceTrial, expectRefused } from '../support/cluster/resource-trial.ts';

const trial = new ResourceTrial({ kind: 'SecretEnvironment', plural: 'secretenvironments' });

const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
const spec = { environmentRef };

function withEnvironment(part: object): object {
  return { environmentRef: { ...environmentRef, ...part } };
}

test('a SecretEnvironment that says as little as it may gets every default', async () => {
  expect(await trial.accepted(spec)).toEqual({ environmentRef, deletionPolicy: 'Retain', suspend: false });
});

test('SecretEnvironments are found by their short name and category', async () => {
  expect(await trial.appearance()).toEqual({
    shortNames: ['kenv'],
    categories: ['keyframe'],
    namespaced: false,
  });
});

const slugRule =
  'must be a slug: 1 to 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit';

const refusals: readonly [what: string, spec: object, ...message: string[]][] = [
  ['no environment', {}, 'spec.environmentRef: Required value'],
  [
    'half an environment',
    { environmentRef: { organization: 'acme', name: 'prod' } },
    'spec.environmentRef.project: Required value',
  ],
  ['an organization that is "*"', withEnvironment({ organization: '*' }), 'environmentRef.organization', slugRule],
  ['a project in capitals', withEnvironment({ project: 'Web' }), 'environmentRef.project', slugRule],
  ['an environment that ends with a hyphen', withEnvironment({ name: 'a-' }), 'environmentRef.name', slugRule],
  ['an empty name for people', { ...spec, displayName: '' }, 'spec.displayName', 'at least 1'],
  ['an owner who is no address', { ...spec, owners: ['ann'] }, 'spec.owners[0]', 'e-mail address in lower case'],
  ['an owner in upper case', { ...spec, owners: ['Ann@corp.test'] }, 'spec.owners[0]', 'e-mail address in lower case'],
  ['an owner twice', { ...spec, owners: ['a@b', 'a@b'] }, 'spec.owners[1]', 'Duplicate'],
  ['too many owners', { ...spec, owners: Array.from({ length: 21 }, (_, n) => `a${n}@b`) }, 'spec.owners', '20'],
  ['a name for people too long', { ...spec, displayName: 'x'.repeat(201) }, 'spec.displayName', '200'],
  ['another way to delete', { ...spec, deletionPolicy: 'Purge' }, 'supported values: "Retain", "Delete"'],
];

describe('a SecretEnvironment is refused with a sentence about', () => {
  test.each(refusals)('%s', async (_, wanted, ...message) => await trial.refused(wanted, ...message));
});

test('the environment never changes, and everything else may', async () => {
  const name = await trial.made({ ...spec, suspend: true });
  try {
    const answer = await trial.change(name, { environmentRef: { name: 'staging' } });
    expectRefused(answer, 'spec.environmentRef', 'environmentRef is immutable: create another SecretEnvironment');
    const change = { displayName: 'Web, production', deletionPolicy: 'Delete' };
    expect(await trial.change(name, change)).toMatchObject({ status: 200, body: { spec: change } });
  } finally {
    await trial.remove(name);
  }
});

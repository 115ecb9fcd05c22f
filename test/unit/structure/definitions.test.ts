import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import type { Definition, DefinitionSchema } from '../../support/cluster/definition-changes.ts';
import { readDefinitions } from '../../support/cluster/released.ts';
import { definitionRuleFaults } from './definition-rules.ts';

test('the definitions keep the rules', () => {
  const definitions = readDefinitions(join(checkoutDirectory, 'crds'));
  expect(definitions.length).toBeGreaterThanOrEqual(8);
  expect(definitionRuleFaults(definitions)).toEqual([]);
});

/** A kind with these fields of its spec, and of its status. */
function planted(spec: Record<string, DefinitionSchema>, status: Record<string, DefinitionSchema> = {}): Definition {
  const openAPIV3Schema = {
    description: 'Planted does something.',
    properties: {
      spec: { description: 'What to do.', properties: spec },
      status: { description: 'The observed state. Only the controller writes it.', properties: status },
    },
  };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
  return {
    metadata: { name: 'planted' },
    spec: { group: 'keyframe.dev', scope: 'Cluster', names: { kind: 'Planted' }, versions: [version] },
  };
}

const rule = 'self == oldSelf';
const immutable = { 'x-kubernetes-validations': [{ rule }] };
const key = { description: 'The key. Default: token.', default: 'token' };

/** A list of objects with one field, for a field that an object below it may hold. */
const listOf = (each: DefinitionSchema): DefinitionSchema => ({
  description: 'Some. Default: none.',
  items: { description: 'One.', properties: { each } },
});

test.each<[fault: string, field: DefinitionSchema]>([
  ['.field[].each has a default within a list', listOf(key)],
  [
    '.field[].each{}.key has a default within a list',
    listOf({
      description: 'A map. Default: none.',
      additionalProperties: { description: 'A value.', properties: { key } },
    }),
  ],
  ['.field has no description', {}],
  ['.field has no description of sentences', { description: 'the field. Default: none.' }],
  ['.field is optional', { description: 'A field.' }],
  ['.field is optional', { description: 'A field. Required.' }],
  [
    '.field.inner is always required',
    {
      description: 'A field. Default: none.',
      required: ['inner'],
      properties: { inner: { description: 'A part. Required.' } },
    },
  ],
  ['.field has the default Read', { description: 'A field. Default: ReadWrite.', default: 'Read' }],
  ['.field has the default false', { type: 'boolean', description: 'Whether. Default: no.', default: false }],
  ['.field has a sentence after «Default: …»', { description: 'A field. Default: none. It has a limit. Default: no.' }],
  ['.field is immutable', { description: 'A field. Default: none.', ...immutable }],
  ['.field says «Immutable»', { description: 'A field. Immutable. Default: none.' }],
  ['.field is a boolean', { type: 'boolean', description: 'Allows it. Default: false.', default: false }],
])('a planted fault is found: %s', (fault, field) => {
  expect(definitionRuleFaults([planted({ field })]).join()).toContain(`Planted.spec${fault}`);
});

test.each<[string, DefinitionSchema]>([
  ['a default beside a list', { description: 'Some. Default: a.', default: ['a'], items: { description: 'One.' } }],
  ['a field that is required with another one', { description: 'A field. Required without other.' }],
  ['an immutable field', { description: 'A field. Immutable. Default: none.', ...immutable }],
])('no fault is %s', (_, field) => {
  expect(definitionRuleFaults([planted({ field })])).toEqual([]);
});

test('a planted fault is found: conditions in other words', () => {
  const conditions = { description: 'Ready: it is done. Stalled: it ends.' };
  expect(definitionRuleFaults([planted({}, { conditions })])).toEqual([
    'Planted.status.conditions explains Reconciling and Stalled in the words of every kind, then its own conditions',
  ]);
});

test('a planted fault is found: an environmentRef with other parts', () => {
  const ref = (...names: string[]): DefinitionSchema => ({
    description: 'The environment. Default: none.',
    properties: Object.fromEntries(names.map((name) => [name, { description: 'A slug. Default: none.' }])),
  });
  const one = planted({ environmentRef: ref('organization', 'project', 'name') });
  const other = planted({
    source: { description: 'A source. Default: none.', properties: { environmentRef: ref('name') } },
  });
  expect(definitionRuleFaults([one, one])).toEqual([]);
  expect(definitionRuleFaults([one, other])).toEqual([
    'Planted.spec.source.environmentRef has other parts than Planted.spec.environmentRef',
  ]);
});

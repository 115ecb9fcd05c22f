import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import type { DefinitionSchema } from '../../support/cluster/definition-changes.ts';
import { readDefinitions } from '../../support/cluster/released.ts';
import { definitionRuleFaults } from './definition-rules.ts';

const definitions = readDefinitions(join(checkoutDirectory, 'crds'));
const kinds = definitions.map((definition) => [String(definition.spec.names['kind']), definition] as const);

test.each(kinds)('the definition of %s keeps the rules', (_, definition) => {
  expect(definitionRuleFaults(definition)).toEqual([]);
});

/** The faults of a definition with one field in its spec. */
function faultsOf(field: DefinitionSchema): string[] {
  const openAPIV3Schema = { properties: { spec: { properties: { field } } } };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
  return definitionRuleFaults({
    metadata: { name: 'planted' },
    spec: { group: 'keyframe.dev', scope: 'Cluster', names: { kind: 'Planted' }, versions: [version] },
  });
}

test.each<[string, DefinitionSchema]>([
  ['Planted.spec.field[].kinds has a default within a list', { items: { properties: { kinds: { default: ['A'] } } } }],
  [
    'Planted.spec.field[].ref{}.key has a default within a list',
    { items: { properties: { ref: { additionalProperties: { properties: { key: { default: 'token' } } } } } } },
  ],
])('a planted fault is found: %s', (fault, field) => {
  expect(faultsOf(field).join()).toContain(fault);
});

test('a default beside a list is none', () => {
  expect(faultsOf({ properties: { list: { default: ['a'], items: { type: 'string' } } } })).toEqual([]);
});

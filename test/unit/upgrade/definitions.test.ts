import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { type Definition, definitionFaults, type DefinitionSchema } from '../../support/cluster/definition-changes.ts';
import {
  everyField,
  formerDefinitionsFolder,
  formerObjects,
  formerRelease,
  type ReleasedObject,
  readDefinitions,
} from '../../support/cluster/released.ts';

const definitionsFolder = join(checkoutDirectory, 'crds');
const present = readDefinitions(definitionsFolder);

describe(`the definitions of release ${formerRelease}`, () => {
  const released = readDefinitions(formerDefinitionsFolder);

  test('allow nothing that the present ones do not', () => {
    expect(released.length).toBeGreaterThanOrEqual(8);
    expect(definitionFaults(released, present)).toEqual([]);
  });

  test('have resources kept of them, with each field of each spec', () => {
    expect(unusedFields(released, formerObjects())).toEqual([]);
  });
});

/** The next release records them. */
test('the resources in test/support/fixtures/every-field set each field of each spec', () => {
  expect(unusedFields(present, everyField())).toEqual([]);
});

/** The fields of specs that none of the resources has, such as `SecretSync.spec.target.labels`. */
function unusedFields(definitions: readonly Definition[], objects: readonly ReleasedObject[]): string[] {
  return definitions.flatMap((definition) => {
    const kind = String(definition.spec.names['kind']);
    const specs = objects.filter((one) => one.kind === kind).map(({ spec }) => spec);
    return schemasOf(definition).flatMap(({ properties: { spec } = {} }) => unusedPaths(spec, specs, `${kind}.spec`));
  });
}

function schemasOf({ spec }: Definition): DefinitionSchema[] {
  return spec.versions.map(({ schema }) => schema.openAPIV3Schema);
}

/** The properties of a schema that none of the values has. */
function unusedPaths(schema: DefinitionSchema | undefined, values: readonly unknown[], path: string): string[] {
  if (schema?.items !== undefined) return unusedPaths(schema.items, values.flat(), `${path}[]`);
  return Object.entries(schema?.properties ?? {}).flatMap(([name, inner]) => {
    const found = values.flatMap((value) => (value as Record<string, unknown> | undefined)?.[name] ?? []);
    return found.length === 0 ? [`${path}.${name}`] : unusedPaths(inner, [found].flat(), `${path}.${name}`);
  });
}

test('a kept resource that lacks a field is noticed', () => {
  const schema = { properties: { a: { items: { properties: { b: {}, c: {} } } }, d: {} } };
  expect(unusedPaths(schema, [{ a: [{ b: 1 }] }], 'spec')).toEqual(['spec.a[].c', 'spec.d']);
});

describe('a planted change is found:', () => {
  type Mutable = { [key: string]: Mutable };
  const kinds = ['secretsyncs', 'servicetokens'];

  /** The faults of definitions in which one thing was changed; `edit` gets those of SecretSync and of ServiceToken. */
  function faultsAfter(edit: (...definitions: { root: Mutable; spec: Mutable }[]) => void): string[] {
    const changed = readDefinitions(definitionsFolder);
    const found = kinds.map((plural) => {
      const definition = changed.find(({ metadata }) => metadata.name === `${plural}.keyframe.dev`);
      const root = definition?.spec as unknown as Mutable;
      const schema = definition === undefined ? undefined : schemasOf(definition)[0];
      return { root, spec: schema?.properties?.['spec'] as unknown as Mutable };
    });
    edit(...found);
    return definitionFaults(present, changed).map((fault) => fault.replace(/^(\w+)\.keyframe\.dev: /, '$1 '));
  }

  /** Walks to a part of a schema, and changes it there. */
  const at = (part: Mutable | undefined, path: string): Mutable => {
    const found = path.split('.').reduce<Mutable | undefined>((inner, key) => inner?.[key], part);
    if (found === undefined) throw new Error(`there is no ${path}`);
    return found;
  };
  const set = (part: Mutable | undefined, path: string, change: object): void =>
    void Object.assign(path === '' ? (part ?? {}) : at(part, path), change);

  const addRule = (part: Mutable | undefined, rule: object): void =>
    void (at(part, 'x-kubernetes-validations') as unknown as object[]).push(rule);

  test('none where nothing, or only what is harmless, was changed', () => {
    expect(faultsAfter(() => undefined)).toEqual([]);
    const harmless = faultsAfter((sync, token) => {
      set(sync?.spec, 'properties', { further: { type: 'string', default: 'x', enum: ['x'] } });
      set(token?.spec, 'properties.permission', { enum: ['Read', 'ReadWrite', 'Write'] });
      set(token?.spec, 'properties.organization', { maxLength: 64, minLength: 0, description: 'Other words.' });
      delete token?.spec['properties']?.['expiresIn']?.['pattern'];
      addRule(token?.spec, {
        rule: '!oldSelf.hasValue() || self.scope == oldSelf.value().scope',
        optionalOldSelf: true,
      });
      set(token?.root['names'], '', { shortNames: ['ktoken', 'kt'] });
      // All values that it had before fit.
      set(token?.spec, 'properties.scope', { enum: undefined, maxLength: 12 });
    });
    expect(harmless).toEqual([]);
  });

  describe('a rule in other words', () => {
    const [old = ''] = rulesOf('servicetokens');
    const faultsOf = (rule: string): string[] => faultsAfter((_, token) => addRule(token?.spec, { rule }));

    test.each([['asks for less than one that held before', `has(self.expiresIn) && self.expiresIn == 'x' || ${old}`]])(
      'is none that %s',
      (_, rule) => expect(faultsOf(rule)).toEqual([]),
    );

    test.each([
      ['asks for more', `has(self.expiresIn) && (${old})`],
      ['has a condition over all of it', `has(self.expiresIn) ? false : true || ${old}`],
    ])('is a new one that %s', (_, rule) => expect(faultsOf(rule)).toHaveLength(1));

    test('is none that asks for the pattern of before, and a new one that asks for another', () => {
      const faultsAsking = (patternOf: (before: string) => string): string[] =>
        faultsAfter((sync) => {
          const values = sync?.spec['properties']?.['target']?.['properties']?.['labels']?.['additionalProperties'];
          const rule = `self.matches('${patternOf(values?.['pattern'] as unknown as string)}')`;
          set(values, '', { pattern: undefined, 'x-kubernetes-validations': [{ rule }] });
        });
      expect(faultsAsking((before) => before)).toEqual([]);
      expect(faultsAsking((before) => `${before}$`)).toHaveLength(1);
    });
  });

  describe('a new rule about a new field', () => {
    const [old = ''] = rulesOf('servicetokens');
    const faultsOf = (rule: string, field: object = { type: 'string' }): string[] =>
      faultsAfter((_, token) => {
        set(token?.spec, 'properties', { further: field });
        addRule(token?.spec, { rule });
      });

    test.each([
      ['that holds where it is absent', "!has(self.further) || self.further != 'x'"],
      [
        'that holds where it is absent, with a condition in parentheses',
        '!has(self.further) || (has(self.a) ? false : true)',
      ],
      ['that says what held before where it is absent', `has(self.further) || ${old}`],
      ['that asks for what was required where it is absent', 'has(self.further) || has(self.scope)'],
    ])('is none %s', (_, rule) => expect(faultsOf(rule)).toEqual([]));

    test.each([
      ['that asks for it', 'has(self.further)'],
      ['that asks for something else where it is absent', 'has(self.further) || has(self.secretName)'],
      ['with a condition over all of it', '!has(self.further) || has(self.secretName) ? false : true'],
      ['that is none', "!has(self.rotation) || self.rotation != 'x'"],
    ])('is one %s', (_, rule) =>
      expect(faultsOf(rule)).toEqual([`servicetokens v1alpha1 .spec: has a new rule without ratcheting: ${rule}`]),
    );

    test('is one where the field is filled in by itself', () => {
      expect(faultsOf('!has(self.further) || false', { type: 'string', default: 'x' })).toHaveLength(1);
    });
  });

  /** The rules of a spec. */
  function rulesOf(plural: string): string[] {
    const definition = present.find(({ metadata }) => metadata.name === `${plural}.keyframe.dev`);
    const schemas = definition === undefined ? [] : schemasOf(definition);
    return schemas.flatMap(({ properties: { spec } = {} }) =>
      (spec?.['x-kubernetes-validations'] ?? []).map(({ rule }) => rule),
    );
  }

  const plants: [string, Parameters<typeof faultsAfter>[0], string][] = [
    [
      'a property is gone',
      ({ spec } = { root: {}, spec: {} }) => void delete spec['properties']?.['suspend'],
      'secretsyncs v1alpha1 .spec.suspend is gone',
    ],
    [
      'a type is another one',
      (sync) => set(sync?.spec, 'properties.revision', { type: 'string' }),
      'secretsyncs v1alpha1 .spec.revision: type was changed',
    ],
    [
      'an enum is narrower',
      (_, token) => set(token?.spec, 'properties.permission', { enum: ['Read'] }),
      'servicetokens v1alpha1 .spec.permission: enum has no ReadWrite any more',
    ],
    [
      'a limit of length is shorter than a value of the former enum',
      (_, token) => set(token?.spec, 'properties.scope', { enum: undefined, maxLength: 11 }),
      'servicetokens v1alpha1 .spec.scope: maxLength was added',
    ],
    [
      'an enum comes',
      (_, token) => set(token?.spec, 'properties.secretName', { enum: ['a'] }),
      'servicetokens v1alpha1 .spec.secretName: enum was added',
    ],
    [
      'something more is required',
      (sync) => set(sync?.spec, '', { required: ['tokenRef'] }),
      'secretsyncs v1alpha1 .spec: tokenRef is required now',
    ],
    [
      'a pattern is another one',
      (sync) => set(sync?.spec, 'properties.target.properties.labels.additionalProperties', { pattern: '^[0-9]+h$' }),
      'secretsyncs v1alpha1 .spec.target.labels{}: pattern was changed',
    ],
    [
      'a pattern comes',
      (_, token) => set(token?.spec, 'properties.secretName', { pattern: '^a' }),
      'servicetokens v1alpha1 .spec.secretName: pattern was added',
    ],
    [
      'a maximum is lower',
      (sync) => set(sync?.spec, 'properties.keys.properties.include', { maxItems: 255 }),
      'secretsyncs v1alpha1 .spec.keys.include: maxItems was changed',
    ],
    [
      'a minimum is higher',
      (sync) => set(sync?.spec, 'properties.revision', { minimum: 2 }),
      'secretsyncs v1alpha1 .spec.revision: minimum was changed',
    ],
    [
      'a default is another one',
      (_, token) => set(token?.spec, 'properties.permission', { default: 'ReadWrite' }),
      'servicetokens v1alpha1 .spec.permission: default was changed',
    ],
    [
      'a default comes',
      (_, token) => set(token?.spec, 'properties.expiresIn', { default: '1h' }),
      'servicetokens v1alpha1 .spec.expiresIn: default was added',
    ],
    [
      'a default goes',
      (_, token) => void delete token?.spec['properties']?.['permission']?.['default'],
      'servicetokens v1alpha1 .spec.permission: default was changed',
    ],
    [
      'a rule comes',
      (_, token) => addRule(token?.spec, { rule: 'has(self.expiresIn)' }),
      'servicetokens v1alpha1 .spec: has a new rule without ratcheting: has(self.expiresIn)',
    ],
    [
      'a rule about changes comes',
      (_, token) => addRule(token?.spec, { rule: 'self == oldSelf' }),
      'servicetokens v1alpha1 .spec: has a new rule without ratcheting: self == oldSelf',
    ],
    [
      'what a map’s values may be is narrower',
      (sync) => set(sync?.spec, 'properties.target.properties.labels.additionalProperties', { maxLength: 62 }),
      'secretsyncs v1alpha1 .spec.target.labels{}: maxLength was changed',
    ],
    [
      'what a list’s entries may be is narrower',
      (sync) => set(sync?.spec, 'properties.keys.properties.rename.items.properties.from', { maxLength: 9 }),
      'secretsyncs v1alpha1 .spec.keys.rename[].from: maxLength was changed',
    ],
    [
      'a list merges in another way',
      (sync) => set(sync?.spec, 'properties.keys.properties.rename', { 'x-kubernetes-list-type': 'atomic' }),
      'secretsyncs v1alpha1 .spec.keys.rename: x-kubernetes-list-type was changed',
    ],
    [
      'a keyword comes that has no rule',
      (_, token) => set(token?.spec, 'properties.secretName', { not: { enum: ['x'] } }),
      'servicetokens v1alpha1 .spec.secretName: not was added',
    ],
    [
      'a version is not served',
      (sync) => set(sync?.root, 'versions.0', { served: false }),
      'secretsyncs v1alpha1 is no longer served',
    ],
    [
      'another version is stored',
      (sync) => set(sync?.root, 'versions.0', { storage: false }),
      'secretsyncs v1alpha1 is stored in another version',
    ],
    ['a version is gone', (sync) => set(sync?.root, '', { versions: [] }), 'secretsyncs version v1alpha1 is gone'],
    [
      'status is no subresource',
      (sync) => void delete sync?.root['versions']?.['0']?.['subresources'],
      'secretsyncs v1alpha1 has no subresource status',
    ],
    [
      'a short name goes',
      (sync) => set(sync?.root, 'names', { shortNames: [] }),
      'secretsyncs names.shortNames was changed',
    ],
    ['the scope is another one', (sync) => set(sync?.root, '', { scope: 'Cluster' }), 'secretsyncs scope was changed'],
  ];

  test.each(plants)('%s', (_what, edit, fault) => {
    expect(faultsAfter(edit)).toEqual([fault]);
  });

  test('a kind is gone', () => {
    expect(definitionFaults(present, present.slice(1))).toEqual([`${present[0]?.metadata.name} is gone`]);
  });
});

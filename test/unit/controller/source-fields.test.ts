import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

const definition = parse(readFileSync('crds/keyframe.dev_secretsyncs.yaml', 'utf8')) as {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
};
const spec = definition.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec']?.properties ?? {};
const source = spec['sources']?.items?.properties ?? {};

// What a source of a list has beside what a spec with one source has.
const ofListsAlone = ['name'];

/** A schema without its descriptions, which differ. */
function shape(schema: Schema | undefined): unknown {
  return JSON.parse(
    JSON.stringify(schema ?? null, (key, value: unknown) => (key === 'description' ? undefined : value)),
  );
}

test('every field of a source has the same schema below spec as below spec.sources', () => {
  const fields = Object.keys(source).filter((field) => !ofListsAlone.includes(field));
  expect(fields).toEqual(expect.arrayContaining(['environmentRef', 'keys', 'revision', 'snapshotRef', 'tokenRef']));
  for (const field of fields) expect({ [field]: shape(spec[field]) }).toEqual({ [field]: shape(source[field]) });
});

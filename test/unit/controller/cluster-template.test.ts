import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { clusterDefinition } from '../../../tools/generate/cluster-definition.ts';

/** What the definition of ClusterSecretSync has in common with others. */

interface Rule {
  readonly rule: string;
  readonly message: string;
}

interface Schema {
  readonly description?: string;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

function textOf(plural: string): string {
  return readFileSync(`crds/keyframe.dev_${plural}.yaml`, 'utf8');
}

function schemaOf(text: string): Schema {
  const definition = parse(text) as {
    readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
  };
  return definition.spec.versions[0]?.schema.openAPIV3Schema ?? { properties: {} };
}

function specOf(text: string): Readonly<Record<string, Schema>> {
  return schemaOf(text).properties['spec']?.properties ?? {};
}

/** A schema without its descriptions, which may differ. */
function shape(schema: unknown): unknown {
  return JSON.parse(
    JSON.stringify(schema ?? null, (key, value: unknown) => (key === 'description' ? undefined : value)),
  );
}

const cluster = textOf('clustersecretsyncs');
const secretSync = textOf('secretsyncs');

describe('the template of a ClusterSecretSync', () => {
  test('has the spec of a SecretSync, word for word', () => {
    const { spec } = specOf(cluster)['template']?.properties ?? {};
    expect(spec?.properties).toHaveProperty('environmentRef');
    expect(spec).toEqual(schemaOf(secretSync).properties['spec']);
  });

  test('obeys every rule about the name of a SecretSync', () => {
    const rules = schemaOf(secretSync)['x-kubernetes-validations'] ?? [];
    const own = (schemaOf(cluster)['x-kubernetes-validations'] ?? []).map(({ rule }) => rule.replaceAll(/\s+/g, ' '));
    expect(rules.length).toBeGreaterThan(3);
    for (const { rule } of rules) {
      const words = rule.replaceAll(/\s+/g, ' ').replaceAll(/(self|oldSelf)\.spec\./gi, '$1.spec.template.spec.');
      expect(own).toContain(words);
    }
  });

  test('is made again where the definition of SecretSync changes', () => {
    const made = clusterDefinition(cluster, secretSync.replaceAll('creationPolicy', 'policy'));
    expect(made).toContain('self.spec.template.spec.target.policy == oldSelf.spec.template.spec.target.policy');
    expect(made).not.toContain('creationPolicy');
    expect(clusterDefinition(made, secretSync)).toEqual(clusterDefinition(cluster, secretSync));
  });
});

test('namespaces are selected with the fields of an AccessGrant', () => {
  const [own, grant] = [specOf(cluster), specOf(textOf('accessgrants'))];
  for (const field of ['namespaces', 'namespaceSelector']) expect(shape(own[field])).toEqual(shape(grant[field]));
  expect(own['namespaceSelector']?.properties).toHaveProperty('matchLabels');
});

import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { adminClient } from '../support/cluster/cluster.ts';

const run = promisify(execFile);

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

/** The paths of all fields that have no description; the API server itself describes metadata. */
function undescribed(schema: Schema, at: string): string[] {
  const own = schema.description === undefined && at !== '.metadata' ? [at] : [];
  const inside = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    undescribed(inner, `${at}.${name}`),
  );
  const parts = [schema.items, schema.additionalProperties].flatMap((part) =>
    part === undefined ? [] : undescribed(part, `${at}[]`),
  );
  return [...own, ...inside, ...parts];
}

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** A schema by its name; one that is not there explains nothing. */
function field(schemas: Readonly<Record<string, Schema>> | undefined, name: string): Schema {
  return schemas?.[name] ?? {};
}

async function definitions(): Promise<Definition[]> {
  const folder = join(checkoutDirectory, 'crds');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml'));
  return await Promise.all(files.map(async (file) => parse(await readFile(join(folder, file), 'utf8')) as Definition));
}

test('every field of every kind is explained by the cluster', async () => {
  const { body } = await adminClient().send({ path: '/openapi/v3/apis/keyframe.dev/v1alpha1' });
  const { schemas } = (body as { components: { schemas: Record<string, Schema> } }).components;
  const kinds = await definitions();
  expect(kinds.length).toBeGreaterThan(5);
  for (const { spec: definition } of kinds) {
    const explained = field(schemas, `dev.keyframe.v1alpha1.${definition.names.kind}`);
    const parts = [field(explained.properties, 'spec'), field(explained.properties, 'status')];
    for (const part of parts) {
      expect(part.properties).toBeDefined();
      expect(undescribed(part, definition.names.kind)).toEqual([]);
    }
  }
  const sync = field(field(schemas, 'dev.keyframe.v1alpha1.SecretSync').properties, 'spec');
  expect(field(sync.properties, 'suspend').description).toContain('nothing is read');
});

test('generated files are what `npm run generate` makes of their sources', async () => {
  const { stderr } = await run(process.execPath, ['tools/generate/main.ts', '--check'], { cwd: checkoutDirectory });
  expect(stderr).not.toContain('out of date');
});

import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile } from 'json-schema-to-typescript';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';
import { openApiDocument } from '../src/http/openapi.ts';
import { cliDocs } from './generate-cli-docs.ts';
import { errorDocs } from './generate-error-docs.ts';

/**
 * Makes the files that are made from others: `npm run generate` writes them, `npm run generate -- --check` only tells
 * which ones are out of date and exits 1. The same sources always give the same bytes.
 */

const root = join(import.meta.dirname, '..');

/** One file that is made from others. */
export interface GeneratedFile {
  /** From the top of the repository. */
  readonly path: string;
  readonly content: string;
}

/** A generator answers all files of its kind; add one here and `--check` covers it. */
const generators: readonly (() => Promise<readonly GeneratedFile[]>)[] = [
  customResourceTypes,
  errorPage,
  interfaceDocument,
  cliPage,
];

/** The part of a JSON schema that is looked at or changed here; the rest is passed on. */
interface Schema {
  title?: string;
  tsType?: string;
  default?: unknown;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
}

interface CustomResourceDefinition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string; readonly singular: string };
    readonly versions: readonly {
      readonly name: string;
      readonly storage: boolean;
      readonly schema: { openAPIV3Schema: Schema };
    }[];
  };
}

/** docs/errors.md from the error catalogue. */
async function errorPage(): Promise<readonly GeneratedFile[]> {
  const path = 'docs/errors.md';
  return [{ path, content: await formatted(path, errorDocs()) }];
}

/** docs/openapi.json from the route table and the schemas of requests and answers. */
async function interfaceDocument(): Promise<readonly GeneratedFile[]> {
  const path = 'docs/openapi.json';
  return [{ path, content: await formatted(path, JSON.stringify(openApiDocument(), undefined, 2)) }];
}

/** docs/cli.md from the help of the `keyframe` command. */
async function cliPage(): Promise<readonly GeneratedFile[]> {
  const path = 'docs/cli.md';
  return [{ path, content: await formatted(path, await cliDocs()) }];
}

/** src/controller/generated/<kind>.ts for each definition in crds/. */
async function customResourceTypes(): Promise<readonly GeneratedFile[]> {
  const names = (await readdir(join(root, 'crds'))).filter((name) => name.endsWith('.yaml')).sort();
  return await Promise.all(names.map(async (name) => await typesOf(`crds/${name}`)));
}

async function typesOf(source: string): Promise<GeneratedFile> {
  const { spec } = parse(await readFile(join(root, source), 'utf8')) as CustomResourceDefinition;
  const { kind } = spec.names;
  const version = spec.versions.find(({ storage }) => storage);
  if (version === undefined) throw new Error(`${source} has no storage version`);
  const schema = prepared(version.schema.openAPIV3Schema, { kind, apiVersion: `${spec.group}/${version.name}` });
  const types = await compile(schema as Parameters<typeof compile>[0], kind, {
    additionalProperties: false,
    bannerComment: '',
    format: false,
    ignoreMinAndMaxItems: true,
  });
  const banner = `// Made from ${source} by \`npm run generate\`: never edited by hand.\n`;
  const notice = '// What has a default there is always present here: the API server fills it in.\n';
  const content = `${banner}${notice}\nimport type { ObjectMeta } from '../../kube/objects.ts';\n\n${types}`;
  const path = `src/controller/generated/${kebabCase(kind)}.ts`;
  return { path, content: await formatted(path, content) };
}

/** The schema as its objects are read: with real metadata, with defaults filled in, and with names for its parts. */
function prepared(schema: Schema, { kind, apiVersion }: { kind: string; apiVersion: string }): Schema {
  const { spec, status, apiVersion: apiVersionField, kind: kindField } = schema.properties ?? {};
  if (spec !== undefined) spec.title = `${kind}Spec`;
  if (status !== undefined) status.title = `${kind}Status`;
  const condition = status?.properties?.['conditions']?.items;
  if (condition !== undefined) condition.title = 'Condition';
  requireDefaulted(schema);
  return {
    ...schema,
    required: [...(schema.required ?? []), 'apiVersion', 'kind', 'metadata'],
    properties: {
      ...schema.properties,
      apiVersion: { ...apiVersionField, tsType: `'${apiVersion}'` },
      kind: { ...kindField, tsType: `'${kind}'` },
      metadata: { tsType: 'ObjectMeta' },
    },
  };
}

function requireDefaulted(schema: Schema): void {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default !== undefined) schema.required = [...(schema.required ?? []), name];
    requireDefaulted(property);
  }
  if (schema.items !== undefined) requireDefaulted(schema.items);
}

function kebabCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}

/** As `prettier --write` would leave it. */
async function formatted(path: string, content: string): Promise<string> {
  const options = await resolveConfig(join(root, path));
  return await format(content, { ...options, filepath: path });
}

async function isCurrent({ path, content }: GeneratedFile): Promise<boolean> {
  const present = await readFile(join(root, path), 'utf8').catch(() => undefined);
  return present === content;
}

async function main(): Promise<void> {
  const files = (await Promise.all(generators.map(async (generate) => await generate()))).flat();
  const current = await Promise.all(files.map(isCurrent));
  const stale = files.filter((_, index) => current[index] !== true);
  if (!process.argv.includes('--check')) {
    await Promise.all(stale.map(async ({ path, content }) => await writeFile(join(root, path), content)));
    for (const { path } of stale) console.log(`wrote ${path}`);
    return;
  }
  for (const { path } of stale) console.error(`${path} is out of date: run \`npm run generate\` and commit it`);
  process.exitCode = stale.length === 0 ? 0 : 1;
}

await main();

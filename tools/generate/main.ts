import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { compile } from 'json-schema-to-typescript';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';
import { apiExamples } from './api-examples.ts';
import { chartDocs } from './chart-docs.ts';
import { cliDocs } from './cli-docs.ts';
import { cliOutput } from './cli-output.ts';
import { clusterDefinition } from './cluster-definition.ts';
import { configurationDocs } from './configuration-docs.ts';
import { commandSummaries } from './command-summaries.ts';
import { errorDocs } from './error-docs.ts';
import { resourceSchema } from './resource-schema.ts';

/**
 * Makes the files that are made from others: `npm run generate` writes them, `npm run generate -- --check` only reports
 * which ones are out of date and exits 1. The same sources always give the same bytes.
 */

const root = join(import.meta.dirname, '..', '..');
const sharingDefinition = 'crds/keyframe.dev_clustersecretsyncs.yaml';
/** Folders with generated files only. A file whose source was removed or renamed is removed. */
const generatedFolders = [
  'charts/keyframe/files/crds',
  'docs/cli-output',
  'docs/schemas/keyframe.dev',
  'src/cli/generated',
  'src/controller/generated',
  'src/http/openapi/generated',
];

/** One file that is made from others. */
export interface GeneratedFile {
  /** From the top of the repository. */
  readonly path: string;
  readonly content: string;
}

/** A generator answers all files of its kind; add one here and `--check` covers it. */
const generators: readonly (() => Promise<readonly GeneratedFile[]>)[] = [
  sharedDefinition,
  customResourceTypes,
  errorPage,
  interfaceExamples,
  interfaceDocument,
  cliPage,
  cliOutputFiles,
  configurationPage,
  cliSummaries,
  chartPage,
  chartDefinitions,
  definitionsForKustomize,
  resourceSchemas,
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

/** The examples of the OpenAPI document, from docs/api.md. */
async function interfaceExamples(): Promise<readonly GeneratedFile[]> {
  const path = 'src/http/openapi/generated/examples.ts';
  const page = await readFile(join(root, 'docs', 'api.md'), 'utf8');
  return [{ path, content: await formatted(path, apiExamples(page)) }];
}

/** docs/openapi.json from the route table and the schemas of requests and answers. */
async function interfaceDocument(): Promise<readonly GeneratedFile[]> {
  const path = 'docs/openapi.json';
  // The document imports its examples, which `main` may have written just now.
  const { openApiDocument } = await import('../../src/http/openapi/document.ts');
  return [{ path, content: await formatted(path, JSON.stringify(openApiDocument(), undefined, 2)) }];
}

/** docs/cli.md from the help of the `keyframe` command. */
async function cliPage(): Promise<readonly GeneratedFile[]> {
  const path = 'docs/cli.md';
  return [{ path, content: await formatted(path, await cliDocs()) }];
}

/** docs/cli-output from the shapes of what the command prints. */
async function cliOutputFiles(): Promise<readonly GeneratedFile[]> {
  const ready = async ({ path, content }: GeneratedFile): Promise<GeneratedFile> => ({
    path,
    content: await formatted(path, content),
  });
  return await Promise.all(cliOutput().map(ready));
}

/** docs/configuration.md with its table of variables; the rest of the page is written by hand. */
async function configurationPage(): Promise<readonly GeneratedFile[]> {
  const path = 'docs/configuration.md';
  const page = await readFile(join(root, path), 'utf8');
  return [{ path, content: await formatted(path, configurationDocs(page)) }];
}

/** The summaries of all commands, so that the help of the program needs none of their modules. */
async function cliSummaries(): Promise<readonly GeneratedFile[]> {
  const path = 'src/cli/generated/summaries.ts';
  return [{ path, content: await formatted(path, await commandSummaries()) }];
}

/** charts/keyframe/README.md from the chart's values and their schema. */
async function chartPage(): Promise<readonly GeneratedFile[]> {
  const path = 'charts/keyframe/README.md';
  return [{ path, content: await formatted(path, await chartDocs(join(root, 'charts', 'keyframe'))) }];
}

/** The definition that has a part in common with another one. */
async function sharedDefinition(): Promise<readonly GeneratedFile[]> {
  return [{ path: sharingDefinition, content: await definitionText(sharingDefinition) }];
}

async function definitionNames(): Promise<string[]> {
  return (await readdir(join(root, 'crds'))).filter((name) => name.endsWith('.yaml')).sort();
}

/**
 * crds/Kustomization, so that `kubectl apply -k crds` installs the definitions. Without an ending, `kubectl apply -f crds`
 * does not read it. A GitOps tool that applies the folder must not prune a definition, which takes every resource of its kind
 * along.
 */
async function definitionsForKustomize(): Promise<readonly GeneratedFile[]> {
  const resources = (await definitionNames()).map((name) => `  - ${name}\n`).join('');
  const head = '# Made from the names of these files by `npm run generate`: never edited by hand.\n';
  const annotations =
    "  argocd.argoproj.io/sync-options: 'Prune=false'\n  kustomize.toolkit.fluxcd.io/prune: disabled\n";
  const content = `${head}resources:\n${resources}commonAnnotations:\n${annotations}`;
  return [{ path: 'crds/Kustomization', content }];
}

/** docs/schemas: the JSON schemas of the custom resources, for editors and kubeconform. */
async function resourceSchemas(): Promise<readonly GeneratedFile[]> {
  const definitions = await allDefinitions();
  const schemaFile = async ({ kind, apiVersion, schema }: Definition): Promise<GeneratedFile> => {
    const [group = '', version = ''] = apiVersion.split('/');
    const path = `docs/schemas/${group}/${kind.toLowerCase()}_${version}.json`;
    const text = JSON.stringify(resourceSchema({ kind, apiVersion, schema }));
    return { path, content: await formatted(path, text) };
  };
  return await Promise.all(definitions.map(schemaFile));
}

/** The chart's copies of crds/: a chart can only read files of its own. */
async function chartDefinitions(): Promise<readonly GeneratedFile[]> {
  const names = await definitionNames();
  const copy = async (name: string): Promise<GeneratedFile> => {
    const content = await definitionText(`crds/${name}`);
    return { path: `charts/keyframe/files/crds/${name}`, content };
  };
  return await Promise.all(names.map(copy));
}

/** A definition with what it takes from another one. */
async function definitionText(path: string): Promise<string> {
  const text = await readFile(join(root, path), 'utf8');
  if (path !== sharingDefinition) return text;
  const secretSync = await readFile(join(root, 'crds', 'keyframe.dev_secretsyncs.yaml'), 'utf8');
  return await formatted(path, clusterDefinition(text, secretSync));
}

/** A definition's file with the schema of its storage version. */
interface Definition {
  /** From the top of the repository. */
  readonly source: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly schema: Schema;
}

/** src/controller/generated/<kind>.ts for each definition in crds/, and condition.ts for what their conditions have in common. */
async function customResourceTypes(): Promise<readonly GeneratedFile[]> {
  const definitions = await allDefinitions();
  const condition = await conditionTypes(definitions);
  return [condition, ...(await Promise.all(definitions.map(kindTypes)))];
}

async function allDefinitions(): Promise<Definition[]> {
  return await Promise.all((await definitionNames()).map(async (name) => await definitionOf(`crds/${name}`)));
}

async function definitionOf(source: string): Promise<Definition> {
  const { spec } = parse(await definitionText(source)) as CustomResourceDefinition;
  const version = spec.versions.find(({ storage }) => storage);
  if (version === undefined) throw new Error(`${source} has no storage version`);
  const { kind } = spec.names;
  return { source, kind, apiVersion: `${spec.group}/${version.name}`, schema: version.schema.openAPIV3Schema };
}

async function kindTypes({ source, kind, apiVersion, schema }: Definition): Promise<GeneratedFile> {
  const types = await compiled(prepared(schema, { kind, apiVersion }), kind);
  const notice = '// What has a default there is always present here: the API server fills it in.\n';
  const metadataImport = "import type { ObjectMeta } from '../../kube/client/objects.ts';\n";
  const conditionImport = "import type { Condition } from './condition.ts';\n";
  const specImport =
    templateSpecOf(schema) === undefined ? '' : "import type { SecretSyncSpec } from './secret-sync.ts';\n";
  const content = `${banner(source)}${notice}\n${metadataImport}${conditionImport}${specImport}\n${types}`;
  const path = `src/controller/generated/${kebabCase(kind)}.ts`;
  return { path, content: await formatted(path, content) };
}

/** The one type of all kinds' conditions. Throws where two kinds' schemas of them differ. */
async function conditionTypes(definitions: readonly Definition[]): Promise<GeneratedFile> {
  const [first, ...others] = definitions.map(({ schema }) => conditionOf(schema));
  if (first === undefined) throw new Error('crds/ has no definition with conditions');
  for (const [index, other] of others.entries()) {
    if (!isDeepStrictEqual(other, first))
      throw new Error(`the conditions in ${definitions[index + 1]?.source} differ from those of the other kinds`);
  }
  const path = 'src/controller/generated/condition.ts';
  const types = await compiled({ ...first, title: 'Condition' }, 'Condition');
  return { path, content: await formatted(path, `${banner('crds/')}\n${types}`) };
}

/** The part of a schema that is the spec of a SecretSync; undefined for kinds without such a part. */
function templateSpecOf(schema: Schema): Schema | undefined {
  const template = schema.properties?.['spec']?.properties?.['template']?.properties?.['spec'];
  return template?.properties?.['target'] === undefined ? undefined : template;
}

function conditionOf(schema: Schema): Schema | undefined {
  return schema.properties?.['status']?.properties?.['conditions']?.items;
}

async function compiled(schema: Schema, name: string): Promise<string> {
  return await compile(schema as Parameters<typeof compile>[0], name, {
    additionalProperties: false,
    bannerComment: '',
    format: false,
    ignoreMinAndMaxItems: true,
  });
}

function banner(source: string): string {
  return `// Made from ${source} by \`npm run generate\`: never edited by hand.\n`;
}

/** The schema as its objects are read: with real metadata, with defaults filled in, and with names for its parts. */
function prepared(schema: Schema, { kind, apiVersion }: { kind: string; apiVersion: string }): Schema {
  const { spec, status, apiVersion: apiVersionField, kind: kindField } = schema.properties ?? {};
  if (spec !== undefined) spec.title = `${kind}Spec`;
  if (status !== undefined) status.title = `${kind}Status`;
  const condition = conditionOf(schema);
  if (condition !== undefined) condition.tsType = 'Condition';
  const templateSpec = templateSpecOf(schema);
  if (templateSpec !== undefined) templateSpec.tsType = 'SecretSyncSpec';
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

async function staleOf(files: readonly GeneratedFile[]): Promise<GeneratedFile[]> {
  const current = await Promise.all(files.map(isCurrent));
  return files.filter((_, index) => current[index] !== true);
}

async function writeStale(files: readonly GeneratedFile[]): Promise<void> {
  const stale = await staleOf(files);
  await Promise.all(stale.map(async ({ path, content }) => await writeFile(join(root, path), content)));
  for (const { path } of stale) console.log(`wrote ${path}`);
}

/** The files in generated folders that have no source any more. */
async function leftoversOf(files: readonly GeneratedFile[]): Promise<string[]> {
  const made = new Set(files.map(({ path }) => path));
  const present = await Promise.all(
    generatedFolders.map(async (folder) => (await readdir(join(root, folder))).map((name) => `${folder}/${name}`)),
  );
  return present.flat().filter((path) => !made.has(path));
}

async function removeLeftovers(files: readonly GeneratedFile[]): Promise<void> {
  for (const path of await leftoversOf(files)) {
    await rm(join(root, path));
    console.log(`removed ${path}`);
  }
}

async function main(): Promise<void> {
  const isCheck = process.argv.includes('--check');
  if (!isCheck) await writeStale(await interfaceExamples());
  const files = (await Promise.all(generators.map(async (generate) => await generate()))).flat();
  if (!isCheck) {
    await writeStale(files);
    return await removeLeftovers(files);
  }
  const [stale, leftovers] = await Promise.all([staleOf(files), leftoversOf(files)]);
  for (const { path } of stale) console.error(`${path} is out of date: run \`npm run generate\` and commit it`);
  for (const path of leftovers) console.error(`${path} has no source: run \`npm run generate\` and commit its removal`);
  process.exitCode = stale.length + leftovers.length === 0 ? 0 : 1;
}

await main();

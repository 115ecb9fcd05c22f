import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { isMap, parseDocument } from 'yaml';
import type { Variable } from '../../../src/config/variable.ts';
import { prefix, variables } from '../../../src/config/variables.ts';

/** What of the chart can be held against itself and the sources, without helm. */

const root = join(import.meta.dirname, '..', '..', '..');
const chart = join(root, 'charts', 'keyframe');

interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
}

interface Value {
  readonly path: string;
  readonly comment: string | undefined;
  readonly type: string;
}

const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema;
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The values that have a comment, and the leaves that have none. */
function values(node: unknown, at: string): Value[] {
  if (!isMap(node)) return [];
  // The parser hangs the comment before a map's first key on the map.
  const first = node.commentBefore;
  return node.items.flatMap(({ key, value }, index) => {
    const name = String(key);
    const path = at === '' ? name : `${at}.${name}`;
    const own = (key as { commentBefore?: string | null }).commentBefore ?? (index === 0 ? first : undefined);
    const comment = own
      ?.split('\n')
      .map((line) => line.trim())
      .join(' ')
      .trim();
    const inside = isMap(value) && value.items.length > 0 && comment === undefined;
    return inside ? values(value, path) : [{ path, comment, type: typeOf(value) }];
  });
}

function typeOf(node: unknown): string {
  const value = (node as { toJSON(): unknown }).toJSON();
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function schemaOf(path: string): Schema | undefined {
  return path.split('.').reduce<Schema | undefined>((at, name) => at?.properties?.[name], schema);
}

/** Paths of what the schema does not describe, and of sections that take unknown values. */
function gaps(node: Schema, at: string): string[] {
  const own = node.description === undefined ? [`${at} has no description`] : [];
  const open = node.properties !== undefined && node.additionalProperties === undefined ? [`${at} is open`] : [];
  const inside = Object.entries(node.properties ?? {}).flatMap(([name, inner]) => gaps(inner, `${at}.${name}`));
  const items = Object.entries(node.items?.properties ?? {}).flatMap(([name, inner]) => gaps(inner, `${at}[].${name}`));
  return [...own, ...open, ...inside, ...items];
}

function schemaLeaves(node: Schema, at: string, known: ReadonlySet<string>): string[] {
  if (known.has(at) || node.properties === undefined) return [at];
  return Object.entries(node.properties).flatMap(([name, inner]) =>
    schemaLeaves(inner, at === '' ? name : `${at}.${name}`, known),
  );
}

const all = values(parseDocument(readFileSync(join(chart, 'values.yaml'), 'utf8')).contents, '');

test('every value has a comment, which its schema repeats, and a default of its type', () => {
  expect(all.length).toBeGreaterThan(60);
  for (const { path, comment, type } of all) {
    expect({ path, comment, type }).toEqual({
      path,
      comment: schemaOf(path)?.description,
      type: schemaOf(path)?.type,
    });
    expect(comment).toBeDefined();
  }
});

test('the schema describes everything, takes no unknown value, and knows none that has no default', () => {
  expect(gaps(schema, 'values')).toEqual([]);
  const known = all.map(({ path }) => path);
  const leaves = schemaLeaves(schema, '', new Set(known));
  // Helm itself adds «global» to the values of every chart.
  expect(leaves.filter((path) => path !== 'global').sort()).toEqual([...known].sort());
});

test('the custom resource definitions in the chart are those of crds/', () => {
  const names = readdirSync(join(root, 'crds')).filter((name) => name.endsWith('.yaml'));
  expect(readdirSync(join(chart, 'files', 'crds'))).toEqual(names);
  for (const name of names) expect(read(`charts/keyframe/files/crds/${name}`)).toBe(read(`crds/${name}`));
});

test('chart and server are of one release', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(read('charts/keyframe/Chart.yaml')).toContain(`version: ${version}\nappVersion: ${version}\n`);
});

test('the icon of the chart is that of the server', () => {
  const icon = /^icon: data:image\/png;base64,(\S+)$/m.exec(read('charts/keyframe/Chart.yaml'))?.[1];
  expect(icon).toMatch(/^iVBOR/);
  expect(read('src/http/start-page.ts')).toContain(`'${icon}'`);
});

test('the pages name the image, the package and the tag of this release', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const pages = [
    'README',
    'charts/keyframe/README',
    ...['backup-and-recovery', 'gitops', 'image', 'install'].map((page) => `docs/${page}`),
  ];
  const named = pages.flatMap((page) => {
    const releases = read(`${page}.md`).matchAll(/(?:keyframe[:-]|(?:tag|targetRevision): v)(\d+\.\d+\.\d+(?:-dev)?)/g);
    return [...releases].map(([, release]) => `${page}: ${release}`);
  });
  expect(named.length).toBeGreaterThan(pages.length);
  expect(named.filter((one) => !one.endsWith(`: ${version}`))).toEqual([]);
});

test('the variables that the chart sets are the server’s', () => {
  const known = Object.keys(variables).flatMap((name) => [prefix + name, `${prefix}${name}_FILE`]);
  const set = read('charts/keyframe/templates/_env.tpl').match(/KEYFRAME_[A-Z]\w+/g) ?? [];
  expect(set.length).toBeGreaterThan(10);
  expect(set.filter((name) => !known.includes(name))).toEqual([]);
});

test('the values that the chart gives variables are the server’s own defaults', () => {
  const set = [
    ...read('charts/keyframe/templates/_env.tpl').matchAll(/KEYFRAME_(\w+), value: \{\{ \$values\.([\w.]+)/g),
  ].map(([, variable = '', path = '']) => ({ variable, path }));
  // A pod serves on until the cluster has withdrawn its endpoints; a server by itself need not.
  const compared = set.filter(({ variable }) => variable !== 'SHUTDOWN_DELAY');
  expect(compared.length).toBeGreaterThan(7);
  const defaults = parseDocument(readFileSync(join(chart, 'values.yaml'), 'utf8'));
  const known: Readonly<Record<string, Variable>> = variables;
  for (const { variable, path } of compared) {
    const value = String(defaults.getIn(path.split('.')));
    expect({ path, value }).toEqual({ path, value: known[variable]?.default });
  }
});

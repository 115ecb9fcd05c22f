import { isDeepStrictEqual } from 'node:util';

/** A schema of a CustomResourceDefinition, as far as it is looked into here. */
export interface DefinitionSchema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, DefinitionSchema>>;
  readonly items?: DefinitionSchema;
  readonly additionalProperties?: DefinitionSchema | boolean;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly optionalOldSelf?: boolean }[];
}

export interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: Readonly<Record<string, unknown>>;
    readonly conversion?: unknown;
    readonly versions: readonly DefinitionVersion[];
  };
}

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources?: object;
  readonly schema: { readonly openAPIV3Schema: DefinitionSchema };
}

/**
 * What of the present definitions breaks objects, clients or updates that the released ones allowed, as sentences. A
 * keyword that is not known here is one too, where it is not as it was.
 */
export function definitionFaults(released: readonly Definition[], present: readonly Definition[]): string[] {
  return released.flatMap((before) => {
    const now = present.find(({ metadata }) => metadata.name === before.metadata.name);
    const name = before.metadata.name;
    return now === undefined ? [`${name} is gone`] : kindFaults(before, now).map((fault) => `${name}: ${fault}`);
  });
}

function kindFaults({ spec: before }: Definition, { spec: now }: Definition): string[] {
  const fixed = (['group', 'scope', 'conversion'] as const).filter((key) => !isDeepStrictEqual(before[key], now[key]));
  const names = Object.entries(before.names).filter(([key, value]) => !isKept(value, now.names[key]));
  const versions = before.versions.flatMap((version) => {
    const same = now.versions.find(({ name }) => name === version.name);
    return same === undefined ? [`version ${version.name} is gone`] : versionFaults(version, same);
  });
  const changed = [...fixed, ...names.map(([key]) => `names.${key}`)];
  return [...changed.map((key) => `${key} was changed`), ...versions];
}

/** Lists may get longer. */
function isKept(before: unknown, now: unknown): boolean {
  if (!Array.isArray(before)) return isDeepStrictEqual(before, now);
  return Array.isArray(now) && before.every((entry) => now.includes(entry));
}

function versionFaults(before: DefinitionVersion, now: DefinitionVersion): string[] {
  const subresources = Object.keys(before.subresources ?? {}).filter((key) => !(key in (now.subresources ?? {})));
  return [
    ...(before.served && !now.served ? ['is no longer served'] : []),
    ...(before.storage === now.storage ? [] : ['is stored in another version']),
    ...subresources.map((key) => `has no subresource ${key}`),
    ...schemaFaults(before.schema.openAPIV3Schema, now.schema.openAPIV3Schema, ''),
  ].map((fault) => `${before.name} ${fault}`);
}

// For people alone.
const shown = ['description', 'title', 'example', 'externalDocs'];
const lowerBounds = ['minimum', 'minLength', 'minItems', 'minProperties'];
const upperBounds = ['maximum', 'maxLength', 'maxItems', 'maxProperties'];
// May go, but not change or come.
const patterns = ['pattern', 'format'];
const judgedBelow = ['properties', 'items', 'additionalProperties', 'required', 'enum', 'x-kubernetes-validations'];

function schemaFaults(before: DefinitionSchema, now: DefinitionSchema, path: string): string[] {
  const keywords = new Set([...Object.keys(before), ...Object.keys(now)]);
  const plain = [...keywords].filter((keyword) => isBroken(keyword, before, now));
  const here = [
    ...plain.map((keyword) => `${keyword} was ${before[keyword] === undefined ? 'added' : 'changed'}`),
    ...requiredFaults(before, now),
    ...enumFaults(before, now),
    ...ruleFaults(before, now),
  ];
  return [
    ...here.map((fault) => `${path === '' ? 'the resource' : path}: ${fault}`),
    ...innerFaults(before, now, path),
  ];
}

function isBroken(keyword: string, former: DefinitionSchema, present: DefinitionSchema): boolean {
  const [before, now] = [former[keyword], present[keyword]];
  if (shown.includes(keyword) || judgedBelow.includes(keyword) || isDeepStrictEqual(before, now)) return false;
  if (lowerBounds.includes(keyword)) return bound(now, -Infinity) > bound(before, -Infinity);
  if (keyword === 'maxLength' && former.enum !== undefined)
    return former.enum.some((value) => String(value).length > bound(now, Infinity));
  if (upperBounds.includes(keyword)) return bound(now, Infinity) < bound(before, Infinity);
  return !(patterns.includes(keyword) && now === undefined);
}

function bound(value: unknown, none: number): number {
  return typeof value === 'number' ? value : none;
}

function requiredFaults(
  { required: before = [] }: DefinitionSchema,
  { required: now = [] }: DefinitionSchema,
): string[] {
  return now.filter((name) => !before.includes(name)).map((name) => `${name} is required now`);
}

function enumFaults({ enum: before }: DefinitionSchema, { enum: now }: DefinitionSchema): string[] {
  if (now === undefined) return [];
  if (before === undefined) return ['enum was added'];
  return before.filter((value) => !now.includes(value)).map((value) => `enum has no ${String(value)} any more`);
}

/**
 * A new rule may bind only what is changed: one that sees the old value, and holds for objects that broke it before; or one
 * that holds for all objects without a field which is new. A rule that asks for what held before, or for less, is no new one.
 */
function ruleFaults(before: DefinitionSchema, now: DefinitionSchema): string[] {
  const required = (before.required ?? []).map((name) => `has(self.${name})`);
  const pattern = typeof before.pattern === 'string' ? [`self.matches('${before.pattern}')`] : [];
  const rules = (before['x-kubernetes-validations'] ?? []).map(({ rule }) => rule.trim());
  const known = new Set([...rules, ...required, ...pattern]);
  const isHarmless = (rule: string): boolean =>
    known.has(rule) || isWeaker(rule, known) || isKeptWithout(rule, { before, now, known });
  return (now['x-kubernetes-validations'] ?? [])
    .filter(
      ({ rule, optionalOldSelf }) =>
        !(optionalOldSelf === true && /\boldSelf\b/.test(rule)) && !isHarmless(rule.trim()),
    )
    .map(({ rule }) => `has a new rule without ratcheting: ${rule.trim()}`);
}

interface Rules {
  readonly before: DefinitionSchema;
  readonly now: DefinitionSchema;
  /** What held for every object. */
  readonly known: ReadonlySet<string>;
}

/** Whether a rule allows something more than a known one: `… || ` and that one. */
function isWeaker(rule: string, known: ReadonlySet<string>): boolean {
  return !outermost(rule).includes('?') && [...known].some((held) => rule.endsWith(` || ${held}`));
}

/**
 * Whether a rule says nothing, or what held before, of objects without a new field: `!has(self.field) || …`, or
 * `has(self.field) || ` and a rule that is known.
 */
function isKeptWithout(rule: string, { before, now, known }: Rules): boolean {
  const [, not, field = '', rest = ''] = /^(!?)has\(self\.([\w.]+)\) \|\| (.+)$/s.exec(rule) ?? [];
  const path = field.split('.');
  const present = schemaAt(now, path);
  // What is filled in by itself would be there in every object.
  const isNew = present !== undefined && present['default'] === undefined && schemaAt(before, path) === undefined;
  // A condition, which binds less than `||`, could stand over all of it.
  return isNew && !outermost(rest).includes('?') && (not === '!' || known.has(rest));
}

function schemaAt(schema: DefinitionSchema, path: readonly string[]): DefinitionSchema | undefined {
  return path.reduce<DefinitionSchema | undefined>((inner, name) => inner?.properties?.[name], schema);
}

/** An expression without its texts and without what stands in parentheses. */
function outermost(expression: string): string {
  let [before, after] = ['', expression.replaceAll(/'[^']*'|"[^"]*"/g, '')];
  while (before !== after) [before, after] = [after, after.replaceAll(/\([^()]*\)/g, '')];
  return after;
}

function innerFaults(before: DefinitionSchema, now: DefinitionSchema, path: string): string[] {
  const properties = Object.entries(before.properties ?? {}).flatMap(([name, schema]) => {
    const inner = `${path}.${name}`;
    const same = now.properties?.[name];
    return same === undefined ? [`${inner} is gone`] : schemaFaults(schema, same, inner);
  });
  return [...properties, ...eachFaults(before.items, now.items, `${path}[]`), ...valueFaults(before, now, `${path}{}`)];
}

function eachFaults(before: DefinitionSchema | undefined, now: DefinitionSchema | undefined, path: string): string[] {
  if (before === undefined && now === undefined) return [];
  return before === undefined || now === undefined ? [`${path} was added or is gone`] : schemaFaults(before, now, path);
}

function valueFaults(before: DefinitionSchema, now: DefinitionSchema, path: string): string[] {
  const [old, present] = [before.additionalProperties, now.additionalProperties];
  if (typeof old === 'object' && typeof present === 'object') return schemaFaults(old, present, path);
  return isDeepStrictEqual(old, present) ? [] : [`${path} was added or is gone`];
}

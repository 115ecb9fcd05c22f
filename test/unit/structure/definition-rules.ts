import { isDeepStrictEqual } from 'node:util';
import type { Definition, DefinitionSchema } from '../../support/cluster/definition-changes.ts';

/** The rules that make the definitions alike, so that `kubectl explain` reads the same way for every kind. */

/** A field of a kind, with where it stands. */
interface Field {
  readonly kind: string;
  /** Such as `.spec.rules[].kinds`; empty for the kind itself. */
  readonly path: string;
  readonly schema: DefinitionSchema;
  readonly description: string;
  /** Whether the field around it requires it. */
  readonly isRequired: boolean;
  readonly isWithinList: boolean;
  /** The rules that compare with the former object, of the fields around it. */
  readonly rulesAround: readonly string[];
}

/** What a rule says against a field; undefined if it fits. */
type Rule = (field: Field) => string | undefined;

const observedState = 'The observed state. Only the controller writes it';
const conditionsEnd =
  / Reconciling: the resource may become ready without help\. Stalled: a user must act, and the message says how\.(?: [A-Z]\w+: .+\.)?$/;

const rules: readonly Rule[] = [
  // A merge replaces a list as a whole, so such a default would differ from the manifest for ever.
  ({ schema, isWithinList }) =>
    isWithinList && schema['default'] !== undefined
      ? 'has a default within a list: let the controller supply it'
      : undefined,
  ({ description, path }) =>
    path === '.metadata' || /^[A-Z"][^\n]*[^ ]\.$/.test(description)
      ? undefined
      : 'has no description of sentences, the first of which begins with a capital letter',
  // kubectl explain itself shows which fields are always required.
  ({ description, isRequired }) =>
    isRequired && /\bRequired\b|\bDefault:/.test(description)
      ? 'is always required, so its description says neither «Required» nor «Default:»'
      : undefined,
  ({ description, isRequired, path }) =>
    isOptionOfSpec(path) && !isRequired && !/ Required (?:with|without|for) | Default: .+\.$/.test(description)
      ? 'is optional, so its description ends with «Default: …», or says when it is «Required with/without/for …»'
      : undefined,
  ({ description, schema }) => {
    const shown = shownDefault(schema['default']);
    return shown === undefined || description.endsWith(` Default: ${shown}.`)
      ? undefined
      : `has the default ${shown}, so its description ends with «Default: ${shown}.»`;
  },
  ({ description }) => (/ Default: .*\. [A-Z]/.test(description) ? 'has a sentence after «Default: …»' : undefined),
  ({ description, schema, path, rulesAround }) => {
    const name = path.split('.').at(-1) ?? '';
    const isKept = transitionRules(schema).length > 0 || rulesAround.some((rule) => rule.includes(`.${name}`));
    const own = transitionRules(schema).some((rule) => rule === 'self == oldSelf');
    const says = /\bImmutable\b/.test(description);
    if (own && !says) return 'is immutable, so its description says «Immutable»';
    return says && !isKept ? 'says «Immutable», but no rule keeps it' : undefined;
  },
  ({ description, schema }) =>
    schema['type'] !== 'boolean' || /^(?:Whether|While true,) /.test(description)
      ? undefined
      : 'is a boolean, so its description begins with «Whether» or «While true,»',
  ({ kind, description, path }) => {
    const openings: Readonly<Record<string, string>> = {
      '': `${kind} `,
      '.kind': `${kind}.`,
      '.apiVersion': "The version of this resource's schema.",
      '.status': observedState,
      '.status.observedGeneration': 'The generation of the spec that the status is for.',
      '.status.conditions': 'Ready: ',
    };
    const opening = openings[path] ?? '';
    return description.startsWith(opening) ? undefined : `begins with «${opening}» in every kind`;
  },
  ({ description, path }) =>
    path !== '.status.conditions' || conditionsEnd.test(description)
      ? undefined
      : 'explains Reconciling and Stalled in the words of every kind, then its own conditions',
];

// The fields that name a place are the same in every kind.
const sharedNames = ['environmentRef', 'projectRef'];

/** What contradicts the rules in all definitions together, as `Kind.path sentence`. */
export function definitionRuleFaults(definitions: readonly Definition[]): string[] {
  const fields = definitions.flatMap(fieldsOf);
  const own = fields.flatMap((field) =>
    rules.flatMap((rule) => rule(field) ?? []).map((fault) => `${field.kind}${field.path} ${fault}`),
  );
  return [...own, ...sharedNames.flatMap((name) => sharedFaults(name, fields))];
}

/** Fields of one name whose parts differ. */
function sharedFaults(name: string, fields: readonly Field[]): string[] {
  const named = fields.filter(({ path }) => path.endsWith(`.${name}`));
  const parts = ({ schema: { properties, required } }: Field): unknown => ({ properties, required });
  const [first] = named;
  return named
    .filter((field) => first !== undefined && !isDeepStrictEqual(parts(field), parts(first)))
    .map(({ kind, path }) => `${kind}${path} has other parts than ${first?.kind}${first?.path}`);
}

/** Whether a field is one that a user sets or leaves out. The value of a map or an entry of a list is none. */
function isOptionOfSpec(path: string): boolean {
  return path.startsWith('.spec.') && !/(?:\[\]|\{\})$/.test(path);
}

/** A default as the description names it; undefined without one, and for an object whose fields have their own. */
function shownDefault(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : undefined;
}

function transitionRules({ 'x-kubernetes-validations': all = [] }: DefinitionSchema): string[] {
  return all.map(({ rule }) => rule.trim()).filter((rule) => rule.includes('oldSelf'));
}

/** All fields of a definition. */
function fieldsOf({ spec }: Definition): Field[] {
  const kind = String(spec.names['kind']);
  return spec.versions.flatMap(({ schema: { openAPIV3Schema: schema } }) =>
    withInner({ ...placed(schema), kind, path: '', isRequired: true, isWithinList: false, rulesAround: [] }),
  );
}

function placed(schema: DefinitionSchema): Pick<Field, 'schema' | 'description'> {
  const { description } = schema;
  return { schema, description: typeof description === 'string' ? description : '' };
}

/** A field and all fields within it. */
function withInner(field: Field): Field[] {
  const { schema, path, isWithinList, rulesAround } = field;
  const { properties = {}, items, additionalProperties, required = [] } = schema;
  const around = { kind: field.kind, isWithinList, rulesAround: [...rulesAround, ...transitionRules(schema)] };
  const inner = (name: string, each: DefinitionSchema, more: Partial<Field> = {}): Field => ({
    ...around,
    ...placed(each),
    path: `${path}${name}`,
    isRequired: false,
    ...more,
  });
  const named = Object.entries(properties).map(([name, each]) =>
    inner(`.${name}`, each, { isRequired: required.includes(name) }),
  );
  const entries = items === undefined ? [] : [inner('[]', items, { isWithinList: true })];
  const values = typeof additionalProperties === 'object' ? [inner('{}', additionalProperties)] : [];
  return [field, ...[...named, ...entries, ...values].flatMap(withInner)];
}

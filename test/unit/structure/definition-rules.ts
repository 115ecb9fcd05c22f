import type { Definition, DefinitionSchema } from '../../support/cluster/definition-changes.ts';

/** A field of a kind, with where it stands. */
interface Field {
  /** Such as `.spec.rules[].kinds`; empty for the kind itself. */
  readonly path: string;
  readonly schema: DefinitionSchema;
  readonly isWithinList: boolean;
}

/** What a rule says against a field; undefined if it fits. */
type Rule = (field: Field) => string | undefined;

const rules: readonly Rule[] = [
  // A merge replaces a list as a whole, so such a default would differ from the manifest for ever.
  ({ schema, isWithinList }) =>
    isWithinList && schema['default'] !== undefined
      ? 'has a default within a list: let the controller supply it'
      : undefined,
];

/** What contradicts the rules in a definition, as `Kind.path sentence`. */
export function definitionRuleFaults({ spec }: Definition): string[] {
  const kind = String(spec.names['kind']);
  return spec.versions
    .flatMap(({ schema }) => fieldsOf({ path: '', schema: schema.openAPIV3Schema, isWithinList: false }))
    .flatMap((field) => rules.flatMap((rule) => rule(field) ?? []).map((fault) => `${kind}${field.path} ${fault}`));
}

/** A field and all fields within it. */
function fieldsOf(field: Field): Field[] {
  const { path, schema, isWithinList } = field;
  const { properties = {}, items, additionalProperties } = schema;
  const inner = Object.entries(properties).map(([name, each]) => ({
    path: `${path}.${name}`,
    schema: each,
    isWithinList,
  }));
  const each = items === undefined ? [] : [{ path: `${path}[]`, schema: items, isWithinList: true }];
  const value =
    typeof additionalProperties === 'object' ? [{ path: `${path}{}`, schema: additionalProperties, isWithinList }] : [];
  return [field, ...[...inner, ...each, ...value].flatMap(fieldsOf)];
}

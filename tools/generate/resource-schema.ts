/**
 * The JSON schema of a kind of custom resource, from the schema of its definition: for editors and kubeconform, which know
 * nothing of the extensions of Kubernetes, and take unknown fields unless a schema refuses them. A rule about the form of a text
 * becomes a pattern.
 */

interface Schema {
  readonly [name: string]: unknown;
}

export interface ResourceKind {
  readonly kind: string;
  /** Such as `keyframe.dev/v1alpha1`. */
  readonly apiVersion: string;
  readonly schema: object;
}

export function resourceSchema({ kind, apiVersion, schema }: ResourceKind): object {
  const closed = closedSchema(schema as Schema);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: kind,
    ...closed,
    required: ['apiVersion', 'kind', 'metadata', ...((closed['required'] as readonly string[] | undefined) ?? [])],
    properties: {
      ...(closed['properties'] as object),
      apiVersion: { type: 'string', enum: [apiVersion] },
      kind: { type: 'string', enum: [kind] },
      metadata: { type: 'object' },
    },
  };
}

/** Without the extensions of Kubernetes, except forms of texts. An object takes only the fields that it lists. */
function closedSchema(schema: Schema): Schema {
  const kept = Object.entries(schema).filter(([name]) => !name.startsWith('x-kubernetes-'));
  const inner = kept.map(([name, value]) => [name, innerOf(name, value)]);
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || schema['properties'] === undefined;
  return {
    ...(Object.fromEntries(inner) as Schema),
    ...(isOpen ? {} : { additionalProperties: false }),
    ...formOf(schema),
  };
}

/** The form that a rule of a text demands. What else its rules demand is left out. */
function formOf(schema: Schema): Schema {
  if (schema['type'] !== 'string') return {};
  const rules = (schema['x-kubernetes-validations'] ?? []) as readonly { readonly rule: string }[];
  const patterns = rules.flatMap(({ rule }) => {
    const isChoice = rule.includes(' || ');
    const forms = rule.split(isChoice ? ' || ' : ' && ').map(patternOf);
    const known = forms.filter((form) => form !== undefined);
    if (!isChoice) return known;
    return known.length === forms.length ? [known.join('|')] : [];
  });
  const [pattern, ...others] = patterns;
  if (pattern === undefined) return {};
  // Some readers ignore a pattern within `allOf`.
  if (others.length > 0 || schema['pattern'] !== undefined)
    throw new Error(`a text has several forms: ${patterns.join()}`);
  return { pattern };
}

/** The pattern of a condition that is about the form of a text only. */
function patternOf(condition: string): string | undefined {
  if (condition === "self == '*'") return '^[*]$';
  return /^self[.]matches[(]'([^'\\]*)'[)]$/.exec(condition)?.[1];
}

function innerOf(name: string, value: unknown): unknown {
  if (name === 'properties') {
    const fields = Object.entries(value as Readonly<Record<string, Schema>>);
    return Object.fromEntries(fields.map(([field, schema]) => [field, closedSchema(schema)]));
  }
  if (name === 'items' || (name === 'additionalProperties' && typeof value === 'object')) {
    return closedSchema(value as Schema);
  }
  return value;
}

import type { World } from './world.ts';

/** The parts of an OpenAPI document that are looked at or changed here. */
export interface FuzzDocument {
  readonly paths: Record<string, Record<string, FuzzOperation>>;
  readonly components: { readonly schemas: Record<string, ObjectSchema> };
}

interface FuzzOperation {
  readonly parameters?: { readonly name: string; readonly in: string; schema: object }[];
  readonly requestBody?: { readonly content: Record<string, { schema: Reference; example?: object }> };
}

/** The schema of each body has a name, which no other operation uses. */
interface Reference {
  readonly $ref: string;
}

interface ObjectSchema {
  readonly properties?: Record<string, ObjectSchema & object>;
}

// A name of the caller's choice: anything that fits the rule is as good as an existing name.
const freeNames: ReadonlySet<string> = new Set(['key', 'version', 'targetVersion']);

/**
 * Shows the fuzzer things that exist, which chance would never find. Where only what exists is accepted, a schema is
 * narrowed to that; where everything is that fits, it stays what it was, and the value is made likely. Changes the document.
 */
export function narrowDocument(document: FuzzDocument, world: World): void {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const name = path.replace(/^\/api\/v1/, '');
      narrowParameters(operation, pathValues(name, method.toUpperCase(), world));
      const json = operation.requestBody?.content['application/json'];
      if (json !== undefined) narrowProperties(schemaOf(json.schema, document), world.body);
      const example = world.examples[`${method.toUpperCase()} ${name}`];
      if (json !== undefined && example !== undefined) json.example = example;
    }
  }
}

type Values = Readonly<Record<string, string | number>>;

function narrowParameters({ parameters = [] }: FuzzOperation, inPath: Values): void {
  for (const parameter of parameters) {
    if (parameter.in === 'path') parameter.schema = narrowed(parameter.name, parameter.schema, inPath);
  }
}

function schemaOf({ $ref }: Reference, { components }: FuzzDocument): ObjectSchema {
  const schema = components.schemas[$ref.replace('#/components/schemas/', '')];
  if (schema === undefined) throw new Error(`the document has no ${$ref}`);
  return schema;
}

function narrowProperties({ properties = {} }: ObjectSchema, values: Values): void {
  for (const [name, schema] of Object.entries(properties)) {
    if (values[name] === undefined) narrowProperties(schema, values);
    else properties[name] = narrowed(name, schema, values);
  }
}

function pathValues(path: string, method: string, world: World): Values {
  const [, resource = ''] = path.split('/');
  return { ...world.path, ...world.resources[resource], ...world.operations[`${method} ${path}`] };
}

function narrowed(name: string, schema: object, values: Values): object {
  const value = values[name];
  if (value === undefined) return schema;
  return freeNames.has(name) ? { anyOf: [{ enum: [value] }, schema] } : { enum: [value] };
}

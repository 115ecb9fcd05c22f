import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { formerOpenApiFile, formerRelease } from '../../support/cluster/released.ts';

interface Schema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Described {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/**
 * The fields of responses on which present clients rely, and which a server of the former release may not return: while
 * servers of both releases run, either may answer.
 */
function missingFields(former: Described, present: Described): string[] {
  const { schemas } = former.components;
  return Object.entries(present.components.schemas).flatMap(([name, schema]) => {
    const known = schemas[name];
    return known === undefined ? [] : missingIn(known, schema, name);
  });
}

function missingIn(former: Schema, present: Schema, path: string): string[] {
  const own = (present.required ?? []).filter((field) => former.required?.includes(field) !== true);
  return [
    ...own.map((field) => `${path}.${field}`),
    ...Object.entries(present.properties ?? {}).flatMap(([field, schema]) => {
      const known = former.properties?.[field];
      return known === undefined ? [] : missingIn(known, schema, `${path}.${field}`);
    }),
    ...(present.items === undefined ? [] : missingIn(former.items ?? {}, present.items, `${path}[]`)),
    ...[...(present.anyOf ?? []), ...(present.oneOf ?? [])].flatMap((schema, index) => {
      const known = [...(former.anyOf ?? []), ...(former.oneOf ?? [])][index];
      return known === undefined ? [] : missingIn(known, schema, path);
    }),
  ];
}

const present = openApiDocument() as unknown as Described;

describe(`the responses of servers of release ${formerRelease}`, () => {
  test('have every field on which present clients rely', () => {
    const former = JSON.parse(readFileSync(formerOpenApiFile, 'utf8')) as Described;
    expect(Object.keys(former.components.schemas).length).toBeGreaterThan(60);
    expect(missingFields(former, present)).toEqual([]);
  });
});

describe('a field that the former release lacks is found:', () => {
  const without = (change: (schemas: Record<string, { required: string[] }>) => void): Described => {
    const former = structuredClone(present);
    change(former.components.schemas as Record<string, { required: string[] }>);
    return former;
  };

  test('in a response', () => {
    const former = without(({ Environment }) => void Environment?.required.splice(0, 1));
    expect(missingFields(former, present)).toEqual(['Environment.id']);
  });

  test('in the entries of a list', () => {
    const former = without((schemas) => {
      const change = schemas['Change'] as unknown as Record<'properties', { keys: { items: { required: string[] } } }>;
      change.properties.keys.items.required.splice(0, 1);
    });
    expect(missingFields(former, present)).toEqual(['Change.keys[].key']);
  });

  test('but not in a response that is new', () => {
    const former = without((schemas) => void delete schemas['Change']);
    expect(missingFields(former, present)).toEqual([]);
  });
});

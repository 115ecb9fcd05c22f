import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import type { Definition, DefinitionSchema } from '../../support/cluster/definition-changes.ts';
import { readDefinitions } from '../../support/cluster/released.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

/** What `kubectl get` shows of each kind: a column whose path leads to no field stays empty, and nothing else says so. */

interface Column {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  /** Above 0, only `-o wide` shows it. */
  readonly priority?: number;
}

const definitions = readDefinitions(join(checkoutDirectory, 'crds'));
const kinds = definitions.map((definition) => [String(definition.spec.names['kind']), definition] as const);

function columnsOf({ spec }: Definition): readonly Column[] {
  return spec.versions.flatMap((version) => {
    const { additionalPrinterColumns = [] } = version as { additionalPrinterColumns?: readonly Column[] };
    return additionalPrinterColumns;
  });
}

/** The type of the field at a path, in the words of a column; undefined if there is no such field. */
function typeAt(schema: DefinitionSchema, path: string): string | undefined {
  if (path === '.metadata.creationTimestamp') return 'date';
  const steps = path.match(/\[[^\]]*\]|[^.[\]]+/g) ?? [];
  const field = steps.reduce<DefinitionSchema | undefined>(
    (at, step) => (step.startsWith('[') ? at?.items : at?.properties?.[step]),
    schema,
  );
  if (field === undefined) return undefined;
  return field['format'] === 'date-time' ? 'date' : String(field['type']);
}

test.each(kinds)('each column of %s shows a field of its type', (_kind, definition) => {
  const [{ schema } = { schema: undefined }] = definition.spec.versions;
  for (const { name, type, jsonPath } of nonEmpty(columnsOf(definition))) {
    const found = schema === undefined ? undefined : typeAt(schema.openAPIV3Schema, jsonPath);
    // As text too: lists, and times to come, which a column of times shows as invalid.
    const isText = type === 'string' && ['array', 'date'].includes(found ?? '');
    expect({ name, type: isText ? 'string' : found }).toEqual({ name, type });
  }
});

test.each(kinds)(
  '%s shows whether it is ready and why without an option, and the message with one',
  (_kind, definition) => {
    const columns = columnsOf(definition);
    const ready = (field: string): string => `.status.conditions[?(@.type=="Ready")].${field}`;
    const shown = columns.map(({ name, jsonPath, priority = 0 }) => [name, jsonPath, priority > 0]);
    expect(shown).toEqual(
      expect.arrayContaining([
        ['Ready', ready('status'), false],
        ['Reason', ready('reason'), false],
        ['Message', ready('message'), true],
        ['Age', '.metadata.creationTimestamp', false],
      ]),
    );
    expect(new Set(columns.map(({ name }) => name)).size).toBe(columns.length);
  },
);

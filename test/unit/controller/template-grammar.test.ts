import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { parseTemplate } from '../../../src/controller/kinds/secret-sync/data/template-parser.ts';

/** The API server refuses by an expression of the definition just what the parser would refuse. */

const definition = readFileSync(join(checkoutDirectory, 'crds/keyframe.dev_secretsyncs.yaml'), 'utf8');

interface Rule {
  readonly rule: string;
}

function rule(): Rule {
  const { spec } = parse(definition) as { spec: { versions: { schema: { openAPIV3Schema: unknown } }[] } };
  const schema = spec.versions[0]?.schema.openAPIV3Schema as {
    properties: {
      spec: {
        properties: {
          template: { properties: { data: { additionalProperties: { 'x-kubernetes-validations': Rule[] } } } };
        };
      };
    };
  };
  const [first] =
    schema.properties.spec.properties.template.properties.data.additionalProperties['x-kubernetes-validations'];
  if (first === undefined) throw new Error('the definition has no rule for templates');
  return first;
}

const [, whole = ''] = /matches\(r'(.*)'\)/.exec(rule().rule) ?? [];

const piece = fc.oneof(
  fc.constantFrom(
    '$(',
    '$(A)',
    '$$(',
    '$',
    '(',
    ')',
    '|',
    ' | ',
    'base64',
    'json',
    'quote',
    'trim',
    'urlencode',
    'default ',
    ',',
    '"',
    '\\',
    ' ',
  ),
  fc.constantFrom(
    'A',
    'b.c-1_',
    '$(A | json)',
    '$(A|json "f")',
    '$(A|default "x")',
    '"x"',
    '"\\""',
    'ä',
    '\n',
    '$(A | ',
  ),
);
// Almost all of these are templates, so that every function is met behind every other one.
const step = fc.constantFrom(
  'base64',
  'json',
  'json "f"',
  'quote',
  'trim',
  'urlencode',
  'default "x"',
  'upper',
  'trim "x"',
);
const reference = fc.array(step, { maxLength: 3 }).map((steps) => `$(${['A', ...steps].join(' | ')})`);
const templates = fc
  .array(fc.oneof({ arbitrary: piece, weight: 8 }, reference), { maxLength: 9 })
  .map((pieces) => pieces.join(''));

test('the definition accepts the same templates as the parser', () => {
  let accepted = 0;
  let refused = 0;
  const form = new RegExp(whole, 'u');
  fc.assert(
    fc.property(templates, (text) => {
      const isAccepted = form.test(text);
      if (isAccepted) accepted += 1;
      else refused += 1;
      expect(isTaken(text)).toBe(isAccepted);
    }),
    { numRuns: 2000 },
  );
  expect(Math.min(accepted, refused)).toBeGreaterThan(200);
});

function isTaken(text: string): boolean {
  try {
    parseTemplate('T', text);
    return true;
  } catch {
    return false;
  }
}

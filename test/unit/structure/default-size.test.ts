import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { filesOfDefault, markedSuites } from '../../../tools/test-run/size.ts';

const marked = markedSuites.flatMap((suite) => filesOfDefault(suite));

const crds = join(checkoutDirectory, 'crds');
const kinds = readdirSync(crds)
  .filter((name) => name.endsWith('.yaml'))
  .map((file) => {
    const definition = parse(readFileSync(join(crds, file), 'utf8')) as { spec: { names: { kind: string } } };
    return definition.spec.names.kind;
  });

describe('each mark of the default size', () => {
  test.each(marked)('of $path says in a sentence what the file shows', ({ reason }) => {
    expect(reason).toMatch(/^[A-Z`].*\.$/);
    expect(reason.split(' ').length).toBeGreaterThanOrEqual(5);
  });
});

describe('the default size', () => {
  test.each(kinds)('shows the kind %s', (kind) => {
    expect(marked.filter(({ reason }) => new RegExp(`\\b${kind}s?\\b`).test(reason))).not.toEqual([]);
  });

  test('shows an installation of the chart on a node', () => {
    expect(filesOfDefault('node').filter(({ reason }) => reason.includes('chart'))).not.toEqual([]);
  });
});

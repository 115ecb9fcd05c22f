import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { auditActions } from '../../../src/wire/audit-actions.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';

test('the actions that the command knows are all that the sources record', () => {
  const folder = join(checkoutDirectory, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const recorded = files.flatMap((name) =>
    Array.from(
      readFileSync(join(folder, name), 'utf8').matchAll(/\baction(?:: | = )'(authenticate|[a-z_]+\.[a-z_]+)'/g),
      ([, action = '']) => action,
    ),
  );
  expect(new Set(recorded).size).toBeGreaterThan(40);
  expect(recorded.filter((action) => !auditActions.includes(action))).toEqual([]);
});

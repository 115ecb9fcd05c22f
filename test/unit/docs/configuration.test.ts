import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { format, resolveConfig } from 'prettier';
import { roleNames } from '../../../src/config/role-names.ts';
import { prefix, secretNames, variableNames, variableOf } from '../../../src/config/variables.ts';
import { helpText } from '../../../src/roles/help.ts';
import { roles } from '../../../src/roles/table.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { configurationDocs } from '../../../tools/generate/configuration-docs.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

const file = join(checkoutDirectory, 'docs', 'configuration.md');
const page = readFileSync(file, 'utf8');

test('the table in docs/configuration.md is that of the program', async () => {
  const options = await resolveConfig(file);
  expect(await format(configurationDocs(page), { ...options, filepath: file })).toBe(page);
});

test('a page without the place of the table is refused', () => {
  expect(() => configurationDocs('# Configuration\n')).toThrow('lacks');
});

test('the page and the help list every variable in the order of the table', () => {
  const listed = [...page.matchAll(/^\| `(KEYFRAME_\w+)`/gm)].map(([, name]) => name);
  const inHelp = [...helpText(roles).matchAll(/^ {2}(KEYFRAME_\w+) /gm)].map(([, name]) => name);
  const names = variableNames.map((name) => prefix + name);
  expect(listed).toEqual(names);
  expect(inHelp).toEqual(names);
});

test('the page and the help name each variable that may be a file', () => {
  for (const name of nonEmpty(secretNames)) expect(page).toContain(`\`${prefix}${name}_FILE\``);
  const known = new Set([...secretNames.map((name) => `${name}_FILE`), ...variableNames]);
  const named = [...page.matchAll(/KEYFRAME_([A-Z_]+_FILE)\b/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  expect(helpText(roles)).toContain(
    `  A file may hold each of ${secretNames.map((name) => prefix + name).join(', ')}:`,
  );
});

test('each variable is read by a role, and has one sentence', () => {
  for (const name of nonEmpty(variableNames)) {
    const variable = variableOf(name);
    expect({ name, roles: variable.roles.length > 0 }).toEqual({ name, roles: true });
    // It ends with a full stop, and has no other one.
    expect({ name, text: variable.description.replaceAll(/`[^`]*`/g, '') }).toEqual({
      name,
      text: expect.stringMatching(/^[^.]*\.$/),
    });
  }
});

test('the text of each default is valid, and no other default is documented beside it', () => {
  const faults = variableNames.filter((name) => {
    const { schema, default: text, unset, required } = variableOf(name);
    return text !== undefined && (!schema.safeParse(text).success || unset !== undefined || required === true);
  });
  expect(faults).toEqual([]);
});

test('the help describes every role and option', () => {
  expect(roles.map(({ name }) => name)).toEqual(roleNames);
  const help = helpText(roles);
  for (const { name, summary, options = [] } of nonEmpty(roles)) {
    expect(help).toMatch(new RegExp(`^  ${name} +${summary[0]?.slice(0, 10)}`, 'm'));
    for (const { usage } of options) expect(help).toContain(`\n  ${usage} `);
  }
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { documentedCommands } from '../../support/cli/documented-commands.ts';
import { exampleFiles, exampleSections, exampleThemes, opening } from '../../support/fixtures/example-page.ts';

describe('examples/README.md', () => {
  test('shows every file of the examples in a command, or the tutorial with a cluster does', () => {
    const ours = [...exampleSections().values()].flat().map(({ command }) => command);
    const tutorial = documentedCommands(readFileSync(join(checkoutDirectory, 'docs/tutorial-cluster.md'), 'utf8'));
    const shown = [...ours, ...tutorial.map(({ command }) => command)].join('\n');
    const files = exampleFiles();
    expect(files).toContain('examples/quickstart.yaml');
    expect(files.filter((file) => !shown.includes(file))).toEqual([]);
  });

  test('has every section with commands tried, in one of the themes', () => {
    const tried = [opening, ...Object.values(exampleThemes).flat()];
    expect(tried.toSorted()).toEqual([...exampleSections().keys()].toSorted());
  });
});

import { expect, test } from '@jest/globals';
import { dashboardPaths } from '../../../src/wire/dashboard-paths.ts';
import { readPage } from '../../support/fixtures/documentation.ts';

const names: Readonly<Record<string, string>> = { organization: 'org', environment: 'env' };
const environment = '/orgs/{org}/environments/{project}/{env}';

test('the table in docs/dashboard.md has a row for each page', () => {
  const rows = Array.from(readPage('docs/dashboard.md').matchAll(/^\| `([/…]\S*)` +\|/gm), ([, path = '']) =>
    path.replace('…/{env}', environment),
  );
  const paths = Object.values(dashboardPaths).map((path) =>
    path.replaceAll(/:(\w+)/g, (_, name: string) => `{${names[name] ?? name}}`),
  );
  expect(rows.toSorted()).toEqual(paths.toSorted());
});

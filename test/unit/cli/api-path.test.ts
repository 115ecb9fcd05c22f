import { expect, test } from '@jest/globals';
import { apiPath } from '../../../src/cli/api-client.ts';

test.each(['a/b', '%2e%2e', '..x', '?x', 'ü #'])('a path takes %j as one step', (name) => {
  const path = apiPath`/secrets/acme/${name}/versions`;
  const { pathname, search, hash } = new URL(`http://localhost${path}`);
  expect(pathname.split('/').map(decodeURIComponent)).toEqual(['', 'secrets', 'acme', name, 'versions']);
  expect(search + hash).toBe('');
});

test.each(['', '.', '..'])('a path refuses %j, with which an address would lead elsewhere', (name) => {
  expect(() => apiPath`/projects/acme/${name}`).toThrow('a dot or two');
});

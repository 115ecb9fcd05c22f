import { expect, test } from '@jest/globals';
import { ClientError } from '../../../src/client/client-error.ts';
import { apiPath } from '../../../src/client/api-client.ts';

test.each(['a/b', '%2e%2e', '..x', '?x', 'ü #'])('a path keeps %j one segment', (name) => {
  const path = apiPath`/secrets/acme/${name}/versions`;
  const { pathname, search, hash } = new URL(`http://localhost${path}`);
  expect(pathname.split('/').map(decodeURIComponent)).toEqual(['', 'secrets', 'acme', name, 'versions']);
  expect(search + hash).toBe('');
});

test.each(['', '.', '..'])('a path refuses %j, which would change the address', (name) => {
  const make = (): string => apiPath`/projects/acme/${name}`;
  expect(make).toThrow(ClientError);
  expect(make).toThrow('cannot be empty, "." or ".."');
});

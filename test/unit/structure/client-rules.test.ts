import { describe, expect, test } from '@jest/globals';
import * as contract from '../../../src/wire/contract/index.ts';
import { clientFaults } from './client-rules.ts';
import { readSources } from './source-rules.ts';

const endpoints = Object.values(contract).map(({ method, path }) => `${method} ${path}`);
const clients = readSources().filter(({ path }) => /^src\/(?:cli|dashboard)\//.test(path));

describe('the command and the dashboard', () => {
  test('are read', () => {
    expect(clients.length).toBeGreaterThan(300);
  });

  test('write no path of the API by hand, and cast no response', () => {
    expect(clients.flatMap(({ path, source }) => clientFaults(path, source, endpoints))).toEqual([]);
  });
});

describe('a planted request is found:', () => {
  const imported = `import { call } from '../client/call.ts';\n`;

  test.each([
    ['a path', `read('/organizations')`],
    ['a path with a query', `read('/users?limit=1')`],
    ['the beginning of a path', 'read(`/secrets/${place}`)'],
    ['a tagged path', 'read(path`/members/${org}`)'],
    ['a path with the root of the API', `read('/api/v1/me')`],
    ['a method of the transport', `api.send('GET', path, {})`],
    ['a stream of the transport', `api().events(path, {})`],
    ['a request of its own', `fetch(address)`],
    ['a cast of a response', `${imported}const { body } = (await call(api, 'GET /me')) as Answer;`],
    ['a cast of a body', `${imported}const user = answer.body as User;`],
  ])('%s', (_name, source) => {
    expect(clientFaults('src/cli/a.ts', source, endpoints)).toHaveLength(1);
  });

  test.each([
    ['an endpoint', `${imported}const { body } = await call(api, 'GET /users/{id}', { params: { id } });`],
    ['a constant', `${imported}const query = { values: 'false' } as const;`],
    ['a cast in a file without requests', `const { code } = error as NodeJS.ErrnoException;`],
    ['a page of the dashboard', `navigate('/o/acme')`],
    ['another path', `read('/usr/share')`],
  ])('but not %s', (_name, source) => {
    expect(clientFaults('src/cli/a.ts', source, endpoints)).toEqual([]);
  });
});

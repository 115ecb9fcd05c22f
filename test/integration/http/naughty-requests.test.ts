import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { type Asked, KeepAliveClient, type Reply } from '../../support/api/keep-alive-client.ts';
import {
  accepted,
  expectNamedFault,
  isRepeated,
  naughtyMark,
  naughtyStrings,
  percentEncoded,
} from '../../support/api/naughty-strings.ts';
import { type World, createWorld } from '../../support/api/services.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

let api: TestApi;
let world: World;
let client: KeepAliveClient;
let authorization: string;
let org: string;
let place: string;

beforeAll(async () => {
  api = await startTestApi();
  api.services.feed.start();
  world = await createWorld(api.services);
  client = new KeepAliveClient(api.port);
  authorization = `Bearer ${world.owner.token.reveal()}`;
  org = world.slugs.organization;
  place = `${org}/web/prod`;
  await ask({ method: 'PUT', path: `/secrets/${place}/KEY`, body: { value: 'x' } });
});

afterAll(async () => {
  client.close();
  await api.close();
});

function ask(asked: Asked): Promise<Reply> {
  return client.ask({ authorization, ...asked });
}

async function expectServing(): Promise<void> {
  expect(await ask({ method: 'GET', path: '/me' })).toMatchObject({ status: 200 });
}

/** Asks once with each string (test/unit/http/route-input.test.ts has all routes); what is answered without an error must be among the expected. */
async function expectFaults(
  request: (text: string) => Asked,
  { field, accepts }: { readonly field: RegExp; readonly accepts: readonly string[] },
): Promise<void> {
  const found = await Promise.all(
    [...naughtyStrings].map(async ([what, text]) => {
      const reported = await ask(request(text));
      if (reported.status < 300) return [what];
      // A name that could be one, of which there is none.
      if (reported.status === 404 && !isRepeated(reported.text, text)) return [];
      expectNamedFault(reported, text, field);
      return [];
    }),
  );
  expect(found.flat().toSorted()).toEqual([...accepts].toSorted());
  await expectServing();
}

describe('a naughty string in a query is a fault of its parameter, as', () => {
  // What stands for a place in a list is read by its service.
  test.each<[string, string, readonly string[]]>([
    ['prefix', 'secrets/{place}', accepted.prefixes.only],
    ['cursor', 'versions/{place}/KEY', []],
    ['cursor', 'snapshots/{place}', []],
    ['cursor', 'service-tokens/{org}', []],
    ['since', 'changes/{place}', ['zero']],
    ['cursor', 'changes/{place}', []],
    ['cursor', 'audit/{org}', []],
  ])('%s of /%s', async (name, template, accepts) => {
    const path = `/${template.replace('{place}', place).replace('{org}', org)}`;
    const request = (text: string): Asked => ({ method: 'GET', path: `${path}?${name}=${percentEncoded(text)}` });
    await expectFaults(request, { field: new RegExp(`^${name}$`), accepts });
  });

  test('its name', async () => {
    const request = (text: string): Asked => ({ method: 'GET', path: `/secrets/${place}?${percentEncoded(text)}=1` });
    await expectFaults(request, { field: /^(?:\(unprintable name\)|[A-Za-z0-9._-]+)$/, accepts: [] });
  });
});

describe('a naughty string in a path is a fault of its part, or the name of nothing, as', () => {
  test.each<[RegExp, string, string]>([
    [/^organization$/, 'GET', '/organizations/{text}'],
    [/^org$/, 'POST', '/organizations/{text}/purge'],
    [/^project$/, 'GET', '/projects/{org}/{text}'],
    [/^environment$/, 'GET', '/secrets/{org}/web/{text}'],
    [/^key$/, 'DELETE', '/secrets/{place}/{text}'],
    [/^id$/, 'GET', '/snapshots/{text}'],
    [/^user$/, 'DELETE', '/members/{org}/{text}'],
  ])('%s of %s %s', async (field, method, template) => {
    const path = template.replace('{place}', place).replace('{org}', org);
    await expectFaults((text) => ({ method, path: path.replace('{text}', percentEncoded(text)) }), {
      field,
      accepts: [],
    });
  });
});

test('a naughty string as a name in a body is refused as no field', async () => {
  const request = (text: string): Asked => {
    return { method: 'PUT', path: `/secrets/${place}/KEY`, body: `{${JSON.stringify(text)}:1}` };
  };
  await expectFaults(request, { field: /^(?:\(unprintable name\)|[A-Za-z0-9._-]+)$/, accepts: [] });
});

test('an Idempotency-Key of letters that hurt is kept as it is', async () => {
  const path = `/snapshots/${place}`;
  const visible = [...naughtyStrings.values()].filter((text) => /^[!-~]{1,255}$/.test(text));
  expect(visible.length).toBeGreaterThan(10);
  for (const key of visible) {
    const headers = { 'idempotency-key': `again-${key}` };
    const [first, second] = [
      await ask({ method: 'POST', path, headers, body: {} }),
      await ask({ method: 'POST', path, headers, body: {} }),
    ];
    expect([first.status, second.status, second.text]).toEqual([201, 200, first.text]);
  }
});

test('an event stream that goes on after a naughty string begins all the same', async () => {
  for (const text of nonEmpty([...naughtyStrings.values()].filter((one) => /^[ -~]*$/.test(one)))) {
    const headers = { accept: 'text/event-stream', 'last-event-id': text };
    expect(await ask({ method: 'GET', path: `/changes/${place}`, headers })).toMatchObject({ status: 200 });
  }
});

test('nothing of all this is in the log', () => {
  expect(api.logs.length).toBeGreaterThan(500);
  expect(JSON.stringify(api.logs)).not.toContain(naughtyMark);
});

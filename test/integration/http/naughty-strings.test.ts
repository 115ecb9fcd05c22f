import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { type Asked, KeepAliveClient, type Reply } from '../../support/api/keep-alive-client.ts';
import {
  type Accepted,
  accepted,
  expectNamedFault,
  megabyte,
  naughtyMark,
  naughtyStrings,
  percentEncoded,
} from '../../support/api/naughty-strings.ts';
import { type World, createWorld } from '../../support/api/services.ts';

let api: TestApi;
let world: World;
let client: KeepAliveClient;
let org: string;
let place: string;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  client = new KeepAliveClient(api.port);
  org = world.slugs.organization;
  place = `${org}/web/prod`;
});

afterAll(async () => {
  client.close();
  await api.close();
});

function ask(asked: Asked): Promise<Reply> {
  return client.ask({ authorization: `Bearer ${world.owner.token.reveal()}`, ...asked });
}

type Body = Record<string, unknown>;

/** The body of a request that has to succeed. */
async function bodyOf(method: string, path: string, body?: unknown): Promise<Body> {
  const { status, text } = await ask({ method, path, body });
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
  return JSON.parse(text) as Body;
}

/** Lists that were read since the last write: one is looked at for each text. */
const lists = new Map<string, Promise<Body>>();

function listAt(path: string): Promise<Body> {
  const list = lists.get(path) ?? bodyOf('GET', path);
  lists.set(path, list);
  return list;
}

/** What stands under `name` in each of a list's entries. */
async function listed(path: string, list: string, name: string): Promise<unknown[]> {
  const entries = (await listAt(path))[list] as Body[];
  return entries.map((entry) => entry[name]);
}

async function audited(action: string, name: string): Promise<unknown[]> {
  const entries = (await listAt(`/audit/${org}?action=${action}&limit=1000`))['entries'] as {
    readonly outcome: string;
    readonly target: Record<string, unknown>;
  }[];
  return entries.filter(({ outcome }) => outcome === 'success').map(({ target }) => target[name]);
}

const fresh = (): string => `n${randomBytes(6).toString('hex')}`;

/** A place where a text can be given. */
interface Field {
  /** What a fault calls it. */
  readonly field: RegExp;
  request(text: string): Asked | Promise<Asked>;
  /** What is accepted, or all that is not, of `naughtyStrings` and 1 MB. */
  readonly accepts: Accepted;
  /** Where an accepted text can be read back: each must be, or must hold, exactly that text. */
  readBack(text: string, asked: Asked): Promise<readonly unknown[]>;
}

const json = (text: string): string => JSON.stringify(text);

function slugField(list: string, path: () => string): Field {
  return {
    field: /^slug$/,
    accepts: accepted.slugs,
    request: (slug) => ({ method: 'POST', path: path(), body: { slug } }),
    readBack: async (slug) => [
      (await bodyOf('GET', `${path()}/${percentEncoded(slug)}`))['slug'],
      await listed(path(), list, 'slug'),
      ...(list === 'organizations' ? [] : [await audited(`${list.slice(0, -1)}.create`, list.slice(0, -1))]),
    ],
  };
}

function displayNameField(list: string, path: () => string): Field {
  return {
    field: /^displayName$/,
    accepts: accepted.names,
    request: (displayName) => ({ method: 'POST', path: path(), body: { slug: fresh(), displayName } }),
    async readBack(_text, { body }) {
      const { slug } = body as { slug: string };
      const one = await bodyOf('GET', `${path()}/${slug}`);
      return [one['displayName'], await listed(path(), list, 'displayName')];
    },
  };
}

const secrets = (): string => `/secrets/${place}`;
const versions = (): string => `/versions/${place}`;
const snapshots = (): string => `/snapshots/${place}`;
const keyOf = ({ path }: Asked): string => path.slice(path.lastIndexOf('/') + 1);

const fields: Readonly<Record<string, Field>> = {
  'the slug of an organization': slugField('organizations', () => '/organizations'),
  'the slug of a project': slugField('projects', () => `/projects/${org}`),
  'the slug of an environment': slugField('environments', () => `/environments/${org}/web`),
  'the display name of an organization': displayNameField('organizations', () => '/organizations'),
  'the display name of a project': displayNameField('projects', () => `/projects/${org}`),
  'the display name of an environment': displayNameField('environments', () => `/environments/${org}/web`),
  'a new display name': {
    field: /^displayName$/,
    accepts: accepted.names,
    async request(displayName) {
      const { slug } = await bodyOf('POST', `/projects/${org}`, { slug: fresh() });
      return { method: 'PATCH', path: `/projects/${org}/${String(slug)}`, body: { displayName } };
    },
    readBack: async (_text, { path }) => [(await bodyOf('GET', path))['displayName']],
  },
  'a key in the path': {
    field: /^(?:key|path)$/,
    accepts: accepted.keys,
    request: (key) => ({ method: 'PUT', path: `${secrets()}/${percentEncoded(key)}`, body: { value: 'v' } }),
    readBack: async (key) => [
      (await bodyOf('GET', `${secrets()}/${percentEncoded(key)}`))['key'],
      await listed(secrets(), 'secrets', 'key'),
      await listed(`${secrets()}?prefix=${percentEncoded(key)}`, 'secrets', 'key'),
      (await listed(`${versions()}/${percentEncoded(key)}`, 'versions', 'version')).length > 0 ? key : 'no version',
      await audited('secret.write', 'key'),
    ],
  },
  'a key to set': {
    field: /^set(?:\.|$)/,
    accepts: accepted.keys,
    request: (key) => ({ method: 'PATCH', path: secrets(), body: `{"set":{${json(key)}:"v"}}` }),
    readBack: async (key) => [
      (await bodyOf('GET', `${secrets()}/${percentEncoded(key)}`))['key'],
      await listed(secrets(), 'secrets', 'key'),
    ],
  },
  'a value': {
    field: /^value$/,
    accepts: accepted.values,
    request: (value) => ({ method: 'PUT', path: `${secrets()}/${fresh()}`, body: { value } }),
    readBack: async (_text, asked) => [
      (await bodyOf('GET', asked.path))['value'],
      (await bodyOf('GET', `${versions()}/${keyOf(asked)}/1`))['value'],
      await listed(secrets(), 'secrets', 'value'),
    ],
  },
  'a value of many': {
    field: /^set\./,
    accepts: accepted.values,
    request: (value) => ({ method: 'PATCH', path: secrets(), body: { set: { [fresh()]: value } } }),
    readBack: async () => [await listed(secrets(), 'secrets', 'value')],
  },
  'a comment': {
    field: /^comment$/,
    accepts: accepted.comments,
    request: (comment) => ({ method: 'PUT', path: `${secrets()}/${fresh()}`, body: { value: '', comment } }),
    readBack: async (_text, asked) => [
      await listed(`${versions()}/${keyOf(asked)}`, 'versions', 'comment'),
      await listed(`/changes/${place}`, 'changes', 'comment'),
    ],
  },
  'the comment of a rollback': {
    field: /^comment$/,
    accepts: accepted.comments,
    async request(comment) {
      const key = fresh();
      await bodyOf('PUT', `${secrets()}/${key}`, { value: '' });
      return { method: 'POST', path: `${versions()}/${key}/rollback`, body: { targetVersion: 1, comment } };
    },
    readBack: async (_text, { path }) => [await listed(path.replace('/rollback', ''), 'versions', 'comment')],
  },
  'the comment of a restore': {
    field: /^comment$/,
    accepts: accepted.comments,
    async request(comment) {
      const path = `/environments/${org}/web`;
      const { slug } = await bodyOf('POST', path, { slug: fresh() });
      const own = `${org}/web/${String(slug)}`;
      await bodyOf('PUT', `/secrets/${own}/A`, { value: '' });
      const { id } = await bodyOf('POST', `/snapshots/${own}`, {});
      return { method: 'POST', path: `/snapshots/${own}/restore`, body: { snapshotId: id, comment } };
    },
    readBack: async (_text, { path }) => [
      await listed(path.replace('snapshots', 'changes').replace('/restore', ''), 'changes', 'comment'),
    ],
  },
  'the name of a snapshot': {
    field: /^name$/,
    accepts: accepted.names,
    request: (name) => ({ method: 'POST', path: snapshots(), body: { name } }),
    readBack: async () => [await listed(snapshots(), 'snapshots', 'name'), await audited('snapshot.create', 'name')],
  },
  'the description of a snapshot': {
    field: /^description$/,
    accepts: accepted.comments,
    request: (description) => ({ method: 'POST', path: snapshots(), body: { description } }),
    readBack: async () => [await listed(snapshots(), 'snapshots', 'description')],
  },
  'the name of a service token': {
    field: /^name$/,
    accepts: accepted.names,
    request: (name) => ({
      method: 'POST',
      path: `/service-tokens/${org}`,
      body: { name, scope: 'organization', permission: 'read' },
    }),
    readBack: async () => [
      await listed(`/service-tokens/${org}`, 'serviceTokens', 'name'),
      await audited('service_token.create', 'name'),
    ],
  },
  'the name of a personal token': {
    field: /^name$/,
    accepts: accepted.names,
    request: (name) => ({ method: 'POST', path: '/personal-tokens', body: { name } }),
    readBack: async () => [await listed('/personal-tokens', 'personalTokens', 'name')],
  },
  'the name in an e-mail address': {
    field: /^email$/,
    accepts: accepted.localParts,
    request: (name) => ({ method: 'POST', path: '/users', body: { email: `${name}@example.test` } }),
    // Kept in lower case; that nothing else is changed, the list shows.
    readBack: async (name) => [
      (await listed('/users', 'users', 'email')).includes(`${name}@example.test`.toLowerCase()) ? name : 'not listed',
    ],
  },
  'the display name of a user': {
    field: /^displayName$/,
    accepts: accepted.names,
    request: (displayName) => ({
      method: 'POST',
      path: '/users',
      body: { email: `${fresh()}@example.test`, displayName },
    }),
    readBack: async () => [await listed('/users', 'users', 'displayName')],
  },
};

const texts = new Map([...naughtyStrings, ['1 MB', megabyte] as const]);

/** The naughty strings that a field takes, or those that it refuses, with what they are. */
function textsOf({ accepts }: Field, areTaken: boolean): (readonly [what: string, text: string])[] {
  const isTaken = (what: string): boolean =>
    'only' in accepts ? accepts.only.includes(what) : !accepts.allBut.includes(what);
  return [...texts].filter(([what]) => isTaken(what) === areTaken);
}

describe('a naughty string comes back byte for byte, as', () => {
  test.each(Object.entries(fields))('%s', async (_name, field) => {
    const written = await Promise.all(
      textsOf(field, true).map(async ([what, text]) => {
        const asked = await field.request(text);
        const { status } = await ask(asked);
        return { what, text, asked, isTaken: status < 300 };
      }),
    );
    expect(written.filter(({ isTaken }) => !isTaken)).toEqual([]);
    lists.clear();
    for (const { what, text, asked } of written) {
      const found = await field.readBack(text, asked);
      const isRead = found.every((one) => (Array.isArray(one) ? one.includes(text) : one === text));
      if (!isRead) throw new Error(`${what} was changed or lost: ${JSON.stringify(found).slice(0, 300)}`);
    }
    expect(await ask({ method: 'GET', path: '/me' })).toMatchObject({ status: 200 });
  });
});

// What each kind of field refuses is in test/unit/wire/fields.test.ts, and that each route does in test/unit/http.
describe('a naughty string is refused by its field’s name and not repeated, as', () => {
  test.each(['a key in the path', 'a key to set', 'a value of many', 'the name of a service token'])(
    '%s',
    async (name) => {
      const field = fields[name] as Field;
      const refused = textsOf(field, false);
      expect(refused.length).toBeGreaterThan(3);
      for (const [what, text] of refused) {
        // A path of 1 MB is no path: test/integration/http/naughty-bytes.test.ts.
        if (what === '1 MB' && name.endsWith('in the path')) continue;
        expectNamedFault(await ask(await field.request(text)), text, field.field);
      }
      expect(await ask({ method: 'GET', path: '/me' })).toMatchObject({ status: 200 });
    },
  );

  test('and none of them is in the log', () => {
    expect(api.logs.length).toBeGreaterThan(500);
    expect(JSON.stringify(api.logs)).not.toContain(naughtyMark);
  });
});

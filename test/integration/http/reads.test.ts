import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { auditListView } from '../../../src/wire/audit.ts';
import { secretKeyListView, secretListView } from '../../../src/wire/secrets.ts';
import { createdServiceTokenView } from '../../../src/wire/service-tokens.ts';
import { type HttpAnswer, type HttpClient, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type World, createWorld } from '../../support/api/services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let api: TestApi;
let world: World;
let owner: HttpClient;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  owner = api.client(world.owner.token);
});

afterAll(() => api.close());

/** The path of the secrets of a new environment. */
async function newEnvironment(slug: string): Promise<string> {
  const { organization } = world.slugs;
  await owner.expectStatus(201, 'POST', `/environments/${organization}/web`, { slug });
  return `/secrets/${organization}/web/${slug}`;
}

function get(path: string, ifNoneMatch?: string, client = owner, method = 'GET'): Promise<HttpAnswer> {
  return client.send(method, path, undefined, ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch });
}

/** How many audit entries a request left. */
async function entriesOf({ headers }: HttpAnswer): Promise<number> {
  return prismaOf(api.services.database).auditEntry.count({ where: { requestId: headers.get('x-request-id') ?? '' } });
}

function expectUnchanged(answer: HttpAnswer, tag: string): void {
  expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', tag]);
  for (const name of ['content-type', 'content-length']) expect(answer.headers.has(name)).toBe(false);
}

describe('a conditional read of an environment', () => {
  test('answers 304 with the tag alone while the revision is the one that the caller has', async () => {
    const secrets = await newEnvironment('tagged');
    await owner.send('PUT', `${secrets}/A`, { value: 'one' });
    const first = await get(secrets);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toBe(`"${secretListView.parse(first.body).revisionId}"`);
    expectUnchanged(await get(secrets, tag), tag);

    await owner.send('PUT', `${secrets}/A`, { value: 'one' });
    const second = await get(secrets, tag);
    expect([second.status, second.headers.get('etag') === tag]).toEqual([200, false]);
    expectUnchanged(await get(`${secrets}?revision=1`, tag), tag);
    expectUnchanged(
      await get(`${secrets}?values=false&prefix=A`, second.headers.get('etag') ?? ''),
      second.headers.get('etag') ?? '',
    );
  });

  test('takes a list of tags, weak ones, empty members and the star, and ignores what is no list', async () => {
    const secrets = await newEnvironment('lists');
    const tag = (await get(secrets)).headers.get('etag') ?? '';
    for (const known of ['*', ` ${tag} `, `W/${tag}`, `"other", ${tag}`, `,W/"a,b" ,, ${tag},`]) {
      expectUnchanged(await get(secrets, known), tag);
    }
    for (const unknown of [
      '"other"',
      '',
      tag.slice(1, -1),
      `${tag} x`,
      `w/${tag}`,
      `"*"`,
      `x, ${tag}`,
      `"a${' '.repeat(8000)}`,
    ]) {
      expect((await get(secrets, unknown)).status).toBe(200);
    }
  });

  test('is audited once, whether it answers 304 or values, and for a person if it answers values', async () => {
    const secrets = await newEnvironment('audited-once');
    await owner.send('PUT', `${secrets}/A`, { value: 'one' });
    const reader = api.client((await world.serviceToken({ scope: 'organization', permission: 'read' })).token);
    for (const path of [secrets, `${secrets}?values=false`, `${secrets}?prefix=A&revision=1`, `${secrets}/A`]) {
      const whole = await get(path, '"other"', reader);
      expect(await entriesOf(whole)).toBe(1);
      for (const known of [whole.headers.get('etag') ?? '', '*']) {
        const unchanged = await get(path, known, reader);
        expectUnchanged(unchanged, whole.headers.get('etag') ?? '');
        const requestId = unchanged.headers.get('x-request-id') ?? '';
        const entries = await prismaOf(api.services.database).auditEntry.findMany({ where: { requestId } });
        const target = { environment: 'audited-once', notModified: true, ...(path.endsWith('/A') ? { key: 'A' } : {}) };
        expect(entries).toMatchObject([{ outcome: 'success', label: '[Service Token]', target }]);
      }
      expect(await entriesOf(await get(path, '*'))).toBe(0);
    }
    // What does not exist is audited as well.
    const absent = await get(`${secrets}/ABSENT`, '*', reader);
    expect([absent.status, await entriesOf(absent)]).toEqual([404, 1]);
  });

  test('is judged before it is compared', async () => {
    const secrets = await newEnvironment('judged');
    await expectProblem(get(secrets, '*', api.client()), 'unauthenticated');
    await expectProblem(get(secrets, '*', api.client(world.stranger.token)), 'not_found');
    const narrow = await world.serviceToken({ permission: 'read' });
    await expectProblem(get(secrets, '*', api.client(narrow.token)), 'not_found');
    await expectProblem(get(`${secrets}?revision=9`, '*'), 'not_found');
    await expectProblem(get(`${secrets}?other=1`, '*'), 'invalid_input');
  });

  test('answers HEAD like GET, without the body', async () => {
    const secrets = await newEnvironment('head');
    await owner.send('PUT', `${secrets}/A`, { value: 'one' });
    const [whole, head] = [await get(secrets), await get(secrets, undefined, owner, 'HEAD')];
    expect([head.status, head.text]).toEqual([200, '']);
    for (const name of ['etag', 'content-length', 'content-type']) {
      expect(head.headers.get(name)).toBe(whole.headers.get(name));
    }
    expectUnchanged(
      await get(secrets, whole.headers.get('etag') ?? '', owner, 'HEAD'),
      whole.headers.get('etag') ?? '',
    );
  });
});

describe('a conditional read of a secret', () => {
  test('answers 304 until the secret has another version', async () => {
    const secrets = await newEnvironment('one');
    await owner.send('PUT', `${secrets}/A`, { value: 'same' });
    const first = await get(`${secrets}/A`);
    const tag = first.headers.get('etag') ?? '';
    await owner.send('PUT', `${secrets}/B`, { value: 'same' });
    expect((await get(`${secrets}/B`)).headers.get('etag')).not.toBe(tag);
    const unchanged = await get(`${secrets}/A`, tag);
    expectUnchanged(unchanged, tag);
    expect(await entriesOf(unchanged)).toBe(0);
    await owner.send('PUT', `${secrets}/A`, { value: 'same' });
    expect((await get(`${secrets}/A`, tag)).status).toBe(200);
    expectUnchanged(await get(`${secrets}/A?revision=2`, tag), tag);
    await owner.send('DELETE', `${secrets}/A`);
    await expectProblem(get(`${secrets}/A`, '*'), 'not_found');
  });
});

describe('a read', () => {
  test('is of the revision, of the keys and with or without the values that its query asks for', async () => {
    const secrets = await newEnvironment('selected');
    const first = await owner.expectStatus<{ revisionId: string }>(200, 'PATCH', secrets, {
      set: { DB_URL: 'u', API: 'k' },
    });
    await owner.send('PUT', `${secrets}/DB_URL`, { value: 'v' });
    const list = secretListView.parse(
      (await get(`${secrets}?prefix=DB_&revision=${first.revisionId.toUpperCase()}`)).body,
    );
    expect(list).toMatchObject({ revision: 1, revisionId: first.revisionId });
    expect(list.secrets).toMatchObject([{ key: 'DB_URL', value: 'u', version: 1 }]);
    const keys = await get(`${secrets}?values=false`);
    expect(secretKeyListView.parse(keys.body).secrets.map(({ key, version }) => [key, version])).toEqual([
      ['API', 1],
      ['DB_URL', 2],
    ]);
    expect(secretListView.parse((await get(`${secrets}?values=true`)).body).secrets).toHaveLength(2);
    expect((await get(`${secrets}/DB_URL?revision=1`)).body).toMatchObject({ value: 'u', version: 1 });
  });

  test.each([
    ['values=no', 'values'],
    ['prefix=', 'prefix'],
    ['prefix=%25', 'prefix'],
    ['revision=-1', 'revision'],
    ['revision=', 'revision'],
    ['revision=2147483648', 'revision'],
    ['limit=1', 'limit'],
  ])('refuses ?%s by its name', async (query, field) => {
    const { organization } = world.slugs;
    const { errors } = await expectProblem(get(`/secrets/${organization}/web/prod?${query}`), 'invalid_input');
    expect(errors?.map((error) => error.field)).toEqual([field]);
  });
});

describe('the audit', () => {
  test('is read in pages by filters', async () => {
    const { organization } = world.slugs;
    const secrets = await newEnvironment('audited');
    await owner.send('PUT', `${secrets}/A`, { value: 'never-in-the-audit' });
    const query = `action=secret.&actor=${world.owner.id}&actorType=user&since=2020-01-01T00:00:00Z&limit=1`;
    const answer = await owner.send('GET', `/audit/${organization}?${query}`);
    const { entries, nextCursor } = auditListView.parse(answer.body);
    expect(entries).toMatchObject([{ action: 'secret.write', actor: { id: world.owner.id }, target: { key: 'A' } }]);
    expect(answer.text).not.toContain('never-in-the-audit');
    const next = await owner.send('GET', `/audit/${organization}?${query}&cursor=${nextCursor}`);
    expect(auditListView.parse(next.body).entries[0]?.id).not.toBe(entries[0]?.id);
    // Of whatever was audited so far the whole page fits its schema.
    auditListView.parse((await owner.send('GET', `/audit/${organization}?limit=1000`)).body);
  });

  test.each(['action=%25', 'actor=me', 'actorType=robot', 'since=yesterday', 'limit=1001', 'cursor=abc'])(
    'refuses ?%s by its name',
    async (query) => {
      const { errors } = await expectProblem(
        owner.send('GET', `/audit/${world.slugs.organization}?${query}`),
        'invalid_input',
      );
      expect(errors?.map(({ field }) => field)).toEqual([query.split('=')[0]]);
    },
  );

  test('is for owners and admins alone', async () => {
    const { organization } = world.slugs;
    await expectProblem(api.client(world.viewer.token).send('GET', `/audit/${organization}`), 'forbidden');
    await expectProblem(api.client(world.stranger.token).send('GET', `/audit/${organization}`), 'not_found');
  });
});

describe('rotating a service token', () => {
  test('shows the new value once, with or without a body', async () => {
    const before = await world.serviceToken();
    const one = `/service-tokens/${world.slugs.organization}/${before.id}`;
    const first = await owner.send('POST', `${one}/rotate`);
    expect(first.status).toBe(200);
    const { token } = createdServiceTokenView.parse(first.body);
    const { secrets } = { secrets: `/secrets/${world.slugs.organization}/web/prod` };
    await expectProblem(api.client(before.token).send('GET', secrets), 'unauthenticated');
    expect((await api.client({ reveal: () => token }).send('GET', secrets)).status).toBe(200);
    const second = await owner.send('POST', `${one}/rotate`, { overlapSeconds: 60 });
    expect(createdServiceTokenView.parse(second.body).token).not.toBe(token);
    expect((await api.client({ reveal: () => token }).send('GET', secrets)).status).toBe(200);
    expect((await owner.send('GET', one)).text).not.toContain(token);
    await owner.send('DELETE', one);
    await expectProblem(owner.send('POST', `${one}/rotate`, {}), 'conflict');
    const { errors } = await expectProblem(
      owner.send('POST', `${one}/rotate`, { overlapSeconds: '1' }),
      'invalid_input',
    );
    expect(errors?.map(({ field }) => field)).toEqual(['overlapSeconds']);
  });
});

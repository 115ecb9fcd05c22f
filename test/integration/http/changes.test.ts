import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { changeEventView, changeListView, streamEventView } from '../../../src/wire/changes.ts';
import { EventReader } from '../../support/api/event-reader.ts';
import { type HttpClient, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { createTestDatabase } from '../../support/database/postgres.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { type SecretCalls, secretCalls } from '../../support/api/secret-calls.ts';
import { type World, createWorld } from '../../support/api/services.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

let proxy: PostgresProxy;
let api: TestApi;
let world: World;
let calls: SecretCalls;
let viewer: HttpClient;
let path: string;
let readers: EventReader[] = [];

beforeAll(async () => {
  const database = await createTestDatabase();
  proxy = await PostgresProxy.start(database.url);
  const through = { url: proxy.url, drop: () => database.drop() };
  // No check comes in time: what the tests see, was reported or is read again after a loss.
  const streams = { checkMs: 60_000 };
  api = await startTestApi({}, { database: through, streams });
  api.services.feed.start();
  await waitFor('the feed to hear', () => api.services.feed.ready);
});

afterAll(async () => {
  await api.close();
  await proxy.close();
});

beforeEach(async () => {
  world = await createWorld(api.services);
  calls = secretCalls(api.services, world, world.developer.caller);
  viewer = api.client(world.viewer.token);
  const { organization, project, environment } = world.slugs;
  path = `/changes/${organization}/${project}/${environment}`;
});

afterEach(async () => {
  for (const reader of readers) reader.close();
  readers = [];
  await waitFor('all streams to end', () => api.services.changeStreams.open === 0);
});

async function follow(
  query = '',
  { token = world.viewer.token, headers = {} }: { token?: { reveal(): string }; headers?: Record<string, string> } = {},
): Promise<EventReader> {
  const reader = await EventReader.open(`http://127.0.0.1:${api.port}/api/v1${path}${query}`, token, headers);
  readers.push(reader);
  return reader;
}

/** The revisions of the next changes; what else comes fails the test. */
async function revisions(reader: EventReader, count: number): Promise<number[]> {
  return (await reader.take(count)).map((event) => {
    const { id, data } = changeEventView.parse(event);
    expect(id).toBe(data.revisionId);
    return data.revision;
  });
}

describe('the changes of an environment as a list', () => {
  test('are answered to a client that does not ask for events', async () => {
    await calls.patch({ A: '1' }, [], { comment: 'why' });
    const { revisionId } = await calls.patch({ B: '1' }, ['A']);
    const page = changeListView.parse(await viewer.expectStatus(200, 'GET', `${path}?limit=1`));
    expect(page.changes).toMatchObject([
      {
        revision: 2,
        revisionId,
        changedByName: world.developer.email,
        changedByCluster: null,
        keys: [
          { key: 'A', version: null },
          { key: 'B', version: 1 },
        ],
      },
    ]);
    const rest = await viewer.expectStatus(200, 'GET', `${path}?cursor=${page.nextCursor}`);
    expect(changeListView.parse(rest)).toMatchObject({ changes: [{ revision: 1, comment: 'why' }], nextCursor: null });
    expect(await viewer.expectStatus(200, 'GET', `${path}?since=${revisionId}`)).toEqual({
      changes: [],
      nextCursor: null,
    });
    await expectProblem(viewer.send('GET', `${path}?since=${randomUUID()}`), 'not_found');
    for (const accept of ['*/*', 'text/*', 'text/event-stream;q=0', 'application/json']) {
      const { headers } = await viewer.send('GET', path, undefined, { accept });
      expect([headers.get('content-type'), headers.get('vary')]).toEqual(['application/json; charset=utf-8', 'Accept']);
    }
  });

  test('are hidden from who may not see the environment', async () => {
    const stranger = api.client(world.stranger.token);
    await expectProblem(stranger.send('GET', path), 'not_found');
    await expectProblem(stranger.send('GET', path, undefined, { accept: 'text/event-stream' }), 'not_found');
  });
});

describe('the changes of an environment as events', () => {
  test('begin with the present and follow in order, without values', async () => {
    const { revisionId } = await calls.put('A', 'never-in-an-event');
    const reader = await follow();
    expect(reader.response.headers.get('x-accel-buffering')).toBe('no');
    expect(reader.response.headers.get('cache-control')).toBe('no-store');
    expect(await reader.take(1)).toEqual([{ event: 'ready', id: revisionId, data: { revision: 1, revisionId } }]);
    for (const value of ['2', '3', '4']) await calls.put('A', value);
    const second = await calls.patch({ B: 'never-in-an-event' }, ['A']);
    expect(await revisions(reader, 3)).toEqual([2, 3, 4]);
    expect((await reader.take(1))[0]?.data).toEqual({
      revision: 5,
      revisionId: second.revisionId,
      keys: [
        { key: 'A', version: null },
        { key: 'B', version: 1 },
      ],
    });
    expect(await api.metrics.render()).not.toContain(world.slugs.organization);
  });

  test('go on after a disconnect where Last-Event-ID says, which wins over since', async () => {
    await calls.put('A', '1');
    const first = await follow();
    await first.take(1);
    await calls.put('A', '2');
    const [seen] = await first.take(1);
    first.close();
    for (const value of ['3', '4', '5']) await calls.put('A', value);
    const again = await follow('?since=0', { headers: { 'last-event-id': seen?.id ?? '' } });
    expect(await again.take(1)).toMatchObject([{ event: 'ready', id: undefined, data: { revision: 5 } }]);
    expect(await revisions(again, 3)).toEqual([3, 4, 5]);
    await calls.put('A', '6');
    expect(await revisions(again, 1)).toEqual([6]);
    const all = await follow('?since=0');
    await all.take(1);
    expect(await revisions(all, 6)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('go on from before the first change as well', async () => {
    const first = await follow();
    const [ready] = await first.take(1);
    first.close();
    await calls.put('A', '1');
    const again = await follow('', { headers: { 'last-event-id': ready?.id ?? '' } });
    expect(await again.take(1)).toMatchObject([{ event: 'ready' }]);
    expect(await revisions(again, 1)).toEqual([1]);
  });

  test.each(['nonsense', '99', '6f0d1c5e-0000-4000-8000-000000000000'])(
    'reset a reader whose cursor is not known: %s',
    async (cursor) => {
      const { revisionId } = await calls.put('A', '1');
      const reader = await follow('', { headers: { 'last-event-id': cursor } });
      const [reset] = await reader.take(1);
      expect(reset).toEqual({ event: 'reset', id: revisionId, data: { revision: 1, revisionId } });
      streamEventView.parse(reset);
      await calls.put('A', '2');
      expect(await revisions(reader, 1)).toEqual([2]);
    },
  );

  test('come without gap or repetition though the database restarts and commits are not heard meanwhile', async () => {
    await calls.put('A', '1');
    const reader = await follow();
    await reader.take(1);
    await calls.put('A', '2');
    expect(await revisions(reader, 1)).toEqual([2]);
    const listening = proxy.hold(runs(/LISTEN/));
    proxy.refuse();
    proxy.kill();
    await proxy.accept();
    await listening.arrived();
    await expect(follow()).rejects.toThrow('503');
    for (const value of ['3', '4', '5']) await waitFor('the database to take a change', () => calls.put('A', value));
    listening.release();
    expect(await revisions(reader, 3)).toEqual([3, 4, 5]);
    await waitFor('the feed to hear again', () => api.services.feed.ready);
    await calls.put('A', '6');
    expect(await revisions(reader, 1)).toEqual([6]);
  });

  test('refuse what pages a list, and a body', async () => {
    const accept = { accept: 'text/event-stream' };
    await expectProblem(viewer.send('GET', `${path}?limit=1`, undefined, accept), 'invalid_input');
    await expectProblem(viewer.send('GET', `${path}?since=abc`, undefined, accept), 'invalid_input');
  });

  test('answer HEAD without staying open', async () => {
    const answer = await viewer.send('HEAD', path, undefined, { accept: 'text/event-stream' });
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
  });

  test('are counted in the metrics while they are open', async () => {
    const reader = await follow();
    await reader.take(1);
    expect(await api.metrics.render()).toMatch(/^keyframe_change_streams 1$/m);
  });
});

describe('a stream ends', () => {
  test('at once when its service token is revoked, or rotated away', async () => {
    for (const end of ['revoke', 'rotate'] as const) {
      const token = await world.serviceToken({ permission: 'read' });
      const reader = await follow('', { token: token.token });
      await reader.take(1);
      const access = { caller: world.owner.caller, id: token.id };
      if (end === 'revoke') {
        const handle = await world.onOrganization(access.caller, 'service_token.revoke');
        await api.services.serviceTokens.revoke(handle, access.id);
      } else {
        const handle = await world.onOrganization(access.caller, 'service_token.rotate');
        await api.services.serviceTokens.rotate(handle, access.id);
      }
      expect(await reader.nextAtOnce()).toBeUndefined();
    }
  });

  test('at once when its environment is deleted', async () => {
    const reader = await follow();
    await reader.take(1);
    const { organization, project, environment } = world.slugs;
    await api
      .client(world.owner.token)
      .expectStatus(204, 'DELETE', `/environments/${organization}/${project}/${environment}`);
    expect(await reader.nextAtOnce()).toBeUndefined();
  });

  test('before the next change when the role was taken away', async () => {
    const reader = await follow();
    await reader.take(1);
    await prismaOf(api.services.database).membership.deleteMany({ where: { userId: world.viewer.id } });
    await calls.put('A', '1');
    expect(await reader.nextAtOnce()).toBeUndefined();
    await expect(follow()).rejects.toThrow('404');
  });

  test('when the server stops', async () => {
    const other = await startTestApi();
    other.services.feed.start();
    await waitFor('the feed to hear', () => other.services.feed.ready);
    const { slugs, viewer: reading } = await createWorld(other.services);
    const url = `http://127.0.0.1:${other.port}/api/v1/changes/${slugs.organization}/${slugs.project}/${slugs.environment}`;
    const reader = await EventReader.open(url, reading.token);
    await reader.take(1);
    const closed = other.close();
    // A stream that is cut when the server's patience ends is no end: the reader throws.
    expect(await reader.nextAtOnce()).toBeUndefined();
    await closed;
  });
});

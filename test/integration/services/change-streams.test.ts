import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { limits } from '../../../src/domain/limits.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { EnvironmentAccess } from '../../../src/services/access/access.ts';
import type { OpenStream, StreamEvent, StreamStart } from '../../../src/services/changes/change-stream.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { type SecretCalls, secretCalls } from '../../support/api/secret-calls.ts';
import {
  callerOf,
  createWorld,
  newRootKey,
  startServices,
  type TestServices,
  type World,
} from '../../support/api/services.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { withServices } from '../../support/api/with-services.ts';

const maxStreams = 24;
const share = maxStreams * limits.changeStreamsShare;
const rootKeys = newRootKey();

let database: TestDatabase;
let services: TestServices;
let world: World;
let calls: SecretCalls;

withServices((given) => ({ database, services } = given), { rootKeys, streams: { maxStreams, checkMs: 200 } });

beforeAll(async () => {
  services.feed.start();
  await waitFor('the feed to hear', () => services.feed.ready);
});

beforeEach(async () => {
  world = await createWorld(services);
  calls = secretCalls(services, world, world.developer.caller);
});

describe('a stream of changes', () => {
  async function start(from?: StreamStart, caller: Caller = world.viewer.caller): Promise<OpenStream> {
    return services.changeStreams.start(await world.onEnvironment(caller, 'change.list'), from);
  }

  function begin(opened: OpenStream): { next(): Promise<StreamEvent | undefined>; end(): Promise<void> } {
    const abort = new AbortController();
    const events = opened(abort.signal)[Symbol.asyncIterator]();
    return {
      async next() {
        const { done, value } = await events.next();
        return done === true ? undefined : value;
      },
      async end() {
        abort.abort();
        while ((await events.next()).done !== true);
      },
    };
  }

  /** The next event that is not `idle`; `idle` where none comes for a long time. */
  async function nextOf(stream: { next(): Promise<StreamEvent | undefined> }): Promise<StreamEvent | undefined> {
    let event = await stream.next();
    for (let looks = 1; event?.kind === 'idle' && looks < 25; looks += 1) event = await stream.next();
    return event;
  }

  test('begins at the present and reports each later change once, in order', async () => {
    const { revisionId } = await calls.put('A', '1');
    const stream = begin(await start());
    expect(await stream.next()).toEqual({ kind: 'ready', resumed: false, revision: 1, revisionId });
    const awaited = nextOf(stream);
    await calls.patch({ A: '2', B: '1' });
    await calls.remove('B');
    expect(await awaited).toMatchObject({
      kind: 'change',
      revision: 2,
      keys: [
        { key: 'A', version: 2 },
        { key: 'B', version: 1 },
      ],
    });
    expect(await nextOf(stream)).toMatchObject({ kind: 'change', revision: 3, keys: [{ key: 'B', version: null }] });
    await stream.end();
  });

  test('is idle where nothing happens', async () => {
    const stream = begin(await start());
    await stream.next();
    expect(await stream.next()).toEqual({ kind: 'idle' });
    await stream.end();
  });

  test('goes on from where the reader left off, and resets where that is not known', async () => {
    const first = await calls.put('A', '1');
    const second = await calls.put('A', '2');
    const present = { revision: 2, revisionId: second.revisionId };
    for (const from of [1, first.revisionId]) {
      const stream = begin(await start(from));
      expect(await stream.next()).toEqual({ kind: 'ready', resumed: true, ...present });
      expect(await nextOf(stream)).toMatchObject({ kind: 'change', ...present });
      await stream.end();
    }
    for (const from of [3, randomUUID(), null]) {
      const stream = begin(await start(from));
      expect(await stream.next()).toEqual({ kind: 'reset', ...present });
      await stream.end();
    }
  });

  test.each([
    ['to an earlier point', 1],
    ['to an earlier point, and has more changes since than were lost', 2],
  ])('resets when the database was recovered %s', async (_case, count) => {
    await calls.put('A', '1');
    const lost = await calls.put('A', '2');
    const stream = begin(await start());
    await stream.next();
    const prisma = prismaOf(services.database);
    // What a recovery leaves: the change is gone, and another one took its number.
    await prisma.environmentRevision.delete({ where: { id: lost.revisionId } });
    const ids = Array.from({ length: count }, () => randomUUID());
    const actor = { actorId: randomUUID(), actorType: 'user', actorName: 'x' } as const;
    const environmentId = world.environment.id;
    for (const [index, id] of ids.entries()) {
      await prisma.environmentRevision.create({ data: { id, environmentId, number: 2 + index, ...actor } });
    }
    const present = { revision: 1 + count, revisionId: ids.at(-1) ?? '' };
    const data = { revisionId: present.revisionId, revisionNumber: present.revision };
    await prisma.environment.update({ where: { id: environmentId }, data });
    expect(await nextOf(stream)).toEqual({ kind: 'reset', ...present });
    await stream.end();
  });

  test('shows no change before the ones that are committed before it', async () => {
    await calls.put('A', '1');
    const stream = begin(await start(0));
    await stream.next();
    expect(await nextOf(stream)).toMatchObject({ revision: 1 });
    const lock = await LockSession.begin(database.url);
    await lock.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [world.environment.id]);
    const writes = Promise.all([calls.put('A', '2'), calls.put('B', '1')]);
    await lock.waitForBlocked(1);
    await lock.commit();
    await writes;
    expect([await nextOf(stream), await nextOf(stream)]).toMatchObject([{ revision: 2 }, { revision: 3 }]);
    await stream.end();
  });

  test('keeps nothing for a reader that does not take: what it takes later is read then', async () => {
    const stream = begin(await start());
    await stream.next();
    for (const value of ['1', '2', '3']) await calls.put('A', value);
    await world.onEnvironment(world.viewer.caller, 'change.list');
    const prisma = prismaOf(services.database);
    await prisma.membership.deleteMany({ where: { userId: world.viewer.id } });
    expect(await nextOf(stream)).toBeUndefined();
  });

  test.each([
    [
      'the credential is revoked',
      () =>
        prismaOf(services.database).personalToken.updateMany({
          where: { userId: world.viewer.id },
          data: { revokedAt: new Date() },
        }),
    ],
    [
      'the user is disabled',
      () =>
        prismaOf(services.database).user.update({ where: { id: world.viewer.id }, data: { disabledAt: new Date() } }),
    ],
    [
      'the role is taken away',
      () => prismaOf(services.database).membership.deleteMany({ where: { userId: world.viewer.id } }),
    ],
    [
      'the environment is deleted',
      () =>
        prismaOf(services.database).environment.update({
          where: { id: world.environment.id },
          data: { deletedAt: new Date() },
        }),
    ],
    [
      'the project is deleted',
      () =>
        prismaOf(services.database).project.update({
          where: { id: world.project.id },
          data: { deletedAt: new Date() },
        }),
    ],
  ] as [string, () => Promise<unknown>][])(
    'ends within a check when %s, though no notification comes',
    async (_name, withdraw) => {
      const stream = begin(await start());
      await stream.next();
      await withdraw();
      expect(await nextOf(stream)).toBeUndefined();
    },
  );

  /** Opens as many streams as one principal may have. */
  async function startShare(access: EnvironmentAccess<'change.list'>): Promise<ReturnType<typeof begin>[]> {
    const streams = [];
    for (let count = 0; count < share; count += 1) {
      streams.push(begin(await services.changeStreams.start(access, undefined)));
    }
    return streams;
  }

  test('is one of a limited number: of all, of one organization and of one principal with all of their tokens', async () => {
    const streams = await startShare(await world.onEnvironment(world.viewer.caller, 'change.list'));
    const { token } = await services.personalTokens.create(
      await services.access.person(world.viewer.caller, 'personal_token.create'),
      { name: 'another' },
    );
    const again = callerOf(await services.authentication.authenticate(token.reveal()));
    await expect(start(undefined, again)).rejects.toMatchObject({
      code: 'limit_exceeded',
      detail: `${share} change streams are open with your tokens; close one first`,
    });
    for (let count = 0; count < 6; count += 1) {
      const { caller } = await world.serviceToken({ permission: 'read' });
      streams.push(...(await startShare(await world.onEnvironment(caller, 'change.list'))));
    }
    await expect(start(undefined, world.admin.caller)).rejects.toMatchObject({
      code: 'limit_exceeded',
      detail: `${maxStreams - share} change streams are open in this organization; close one first`,
    });
    const other = await createWorld(services);
    streams.push(...(await startShare(await other.onEnvironment(other.viewer.caller, 'change.list'))));
    const third = await createWorld(services);
    const refused = services.changeStreams.start(
      await third.onEnvironment(third.viewer.caller, 'change.list'),
      undefined,
    );
    await expect(refused).rejects.toMatchObject({ code: 'overloaded' });
    expect(services.changeStreams.open).toBe(maxStreams);
    await Promise.all(streams.map((stream) => stream.end()));
    expect(services.changeStreams.open).toBe(0);
  });

  test('is one of a limited number with one credential', async () => {
    const other = await startServices(database.url, { rootKeys, streams: { checkMs: 60_000 } });
    other.feed.start();
    await waitFor('the feed to hear', () => other.feed.ready);
    const access = await other.access.environment(world.viewer.caller, 'change.list', world.slugs);
    for (let count = 0; count < limits.changeStreamsPerCredential; count += 1) {
      await other.changeStreams.start(access, undefined);
    }
    await expect(other.changeStreams.start(access, undefined)).rejects.toMatchObject({
      code: 'limit_exceeded',
      detail: '16 change streams are open with this token; close one first',
    });
    other.changeStreams.close();
    await other.close();
  });

  test('that is gone before it begins gives its place back', async () => {
    const opened = await start();
    expect(services.changeStreams.open).toBe(1);
    const seen: StreamEvent[] = [];
    for await (const event of opened(AbortSignal.abort())) seen.push(event);
    expect(seen).toEqual([]);
    expect(services.changeStreams.open).toBe(0);
  });

  test('of a service token is audited when it is opened, and a refused one as failed', async () => {
    const token = await world.serviceToken({ permission: 'read' });
    const rowsOf = async (from: StreamStart) => {
      const caller = callerOf(token.caller.principal);
      const opened = await start(from, caller).catch(() => undefined);
      if (opened !== undefined) await begin(opened).end();
      return prismaOf(services.database).auditEntry.findMany({ where: { requestId: caller.requestId } });
    };
    const common = { action: 'change.list', label: '[Service Token]' };
    expect(await rowsOf(undefined)).toMatchObject([{ ...common, outcome: 'success', target: { stream: true } }]);
    expect(await rowsOf(-1)).toMatchObject([{ ...common, outcome: 'failed', target: { error: 'invalid_input' } }]);
    expect(services.changeStreams.open).toBe(0);
  });

  test('does not open to who may not see the environment, nor while commits cannot be heard', async () => {
    await expect(start(undefined, world.stranger.caller)).rejects.toMatchObject({ code: 'not_found' });
    const deaf = await startServices(database.url, { rootKeys });
    const access = await deaf.access.environment(world.viewer.caller, 'change.list', world.slugs);
    await expect(deaf.changeStreams.start(access, undefined)).rejects.toMatchObject({ code: 'store_unavailable' });
    await deaf.close();
  });

  test('ends when the server stops, and no other begins', async () => {
    const other = await startServices(database.url, { rootKeys });
    other.feed.start();
    await waitFor('the feed to hear', () => other.feed.ready);
    const access = await other.access.environment(world.viewer.caller, 'change.list', world.slugs);
    const stream = begin(await other.changeStreams.start(access, undefined));
    await stream.next();
    const awaited = stream.next();
    other.changeStreams.close();
    expect(await awaited).toBeUndefined();
    await expect(other.changeStreams.start(access, undefined)).rejects.toMatchObject({ code: 'overloaded' });
    await other.close();
  });
});

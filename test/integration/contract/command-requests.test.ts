import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CommandPlace, CommandSite, anyId, anyTime, as } from './command-site.ts';
import { RequestRecorder, type RecordedRequest } from './request-recorder.ts';
import { sentence } from './sentence.ts';

/** The commands of docs/interface.md 4.9, each with what it has sent. */
const names = ['create', 'list', 'restore', 'versions', 'rollback', 'makeToken', 'tokens', 'revoke', 'pull'] as const;
type Name = (typeof names)[number];
const oneEach = Object.fromEntries(names.map((name) => [name, 1]));

const resources = new AsyncDisposableStack();
let site: CommandSite;
let place: CommandPlace;
let recorder: RequestRecorder;
let lines: Readonly<Record<Name, readonly string[]>>;
const sent = new Map<Name, readonly RecordedRequest[]>();

beforeAll(async () => {
  site = await CommandSite.start();
  resources.defer(() => site.close());
  recorder = await RequestRecorder.start(resources, site.server.url);
  place = await site.newPlace({ A: 'value-1' });
  await place.server.set({ A: 'value-2' });
  const snapshotId = await place.snapshot();
  const { id: tokenId } = await site.newToken();
  const { project } = site.server;
  const { scope } = place;
  const tokenFlags = ['-s', 'project', '--project-id', project.id, '-p', 'read', '--expires-in', '7'];
  lines = {
    create: ['snapshot', 'create', '-n', 'before', '-d', 'the last', ...scope],
    list: ['snapshot', 'list', ...scope],
    restore: ['snapshot', 'restore', snapshotId, '--yes', '--no-backup', '--rewrite-unchanged'],
    versions: ['versions', 'A', ...scope],
    rollback: ['rollback', 'A', '--version', '1', ...scope],
    makeToken: ['token', 'create-service', '-o', 'acme', '-n', 'ci', ...tokenFlags],
    tokens: ['token', 'list-service', '-o', 'acme'],
    revoke: ['token', 'revoke-service', '--yes', '-o', 'acme', '--id', tokenId],
    pull: ['pull', ...scope],
  };
  for (const name of names) {
    await site.cli.output(lines[name], { env: { KEYFRAME_URL: recorder.url } });
    sent.set(name, recorder.taken());
  }
});
afterAll(() => resources.disposeAsync());

/** The one request of a command; of `restore` the one behind the look-up of the snapshot's place. */
function requestOf(name: Name): RecordedRequest & { readonly json: unknown; readonly answered: unknown } {
  const [first, second] = sent.get(name) ?? [];
  const request = name === 'restore' ? second : first;
  if (request === undefined) throw new Error(`${name} has sent nothing`);
  const parsed = (text: string): unknown => (text === '' ? undefined : JSON.parse(text));
  return { ...request, json: parsed(request.body), answered: parsed(request.answer) };
}

/** Method, path and status of a command's request. */
function headOf(name: Name): string {
  const { method, path, status } = requestOf(name);
  return `${method} ${path} ${status}`;
}

function everyRequest(): RecordedRequest[] {
  return names.flatMap((name) => sent.get(name) ?? []);
}

/** All texts in an answer that look like a time, whatever their form. */
function timesIn(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(timesIn);
  return typeof value === 'string' && /\d{4}-\d\d-\d\dT/.test(value) ? [value] : [];
}

describe('what holds for every request of the command', () => {
  test(sentence('0.1', 'command'), async () => {
    const bodies = everyRequest().filter(({ body }) => body !== '');
    expect(bodies.map(({ contentType }) => contentType)).toEqual(bodies.map(() => 'application/json'));
    expect(bodies.map(({ body }) => typeof JSON.parse(body))).toEqual(bodies.map(() => 'object'));
    expect(bodies.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'POST']);
    const answers = everyRequest().filter(({ status }) => status !== 204);
    expect(answers.map(({ answerType }) => answerType?.split(';')[0])).toEqual(answers.map(() => 'application/json'));
    expect(answers.map(({ answer }) => typeof JSON.parse(answer))).toEqual(answers.map(() => 'object'));
    // restore first looks up the place of the snapshot; what shows tokens also reads the slugs of their projects.
    const numbers = names.map((name) => [name, sent.get(name)?.length]);
    expect(Object.fromEntries(numbers)).toEqual({ ...oneEach, restore: 2, makeToken: 2, tokens: 2 });
  });

  test(sentence('0.2', 'command'), async () => {
    const lists = await Promise.all([place.json(['snapshot', 'list']), place.json(['versions', 'A'])]);
    const times = timesIn([lists, await site.cli.json(['token', 'list-service', '-o', 'acme'])]);
    expect(times.length).toBeGreaterThan(6);
    for (const time of times) expect(time).toEqual(anyTime);
  });

  test(sentence('4.0.1', 'command'), async () => {
    const signedOut = { KEYFRAME_URL: recorder.url, KEYFRAME_TOKEN: undefined };
    const ends = await Promise.all(names.map((name) => site.cli.run(lines[name], { env: signedOut })));
    expect(ends.map(({ code, stdout }) => [code, stdout])).toEqual(names.map(() => [3, '']));
    // Not even asked: without a token there is nothing to send.
    expect(recorder.taken()).toEqual([]);
    const { code, stderr } = await place.run(['pull'], as(`kf_pat_${'0'.repeat(71)}`));
    expect([code, stderr]).toEqual([3, expect.stringContaining('token')]);
  });

  test(sentence('4.0.2', 'command'), async () => {
    const { organization, project, environment } = place.server.target;
    for (const name of ['create', 'list', 'restore', 'versions', 'rollback', 'pull'] as const) {
      expect(requestOf(name).path.split('/').slice(4, 7)).toEqual([organization, project, environment]);
    }
    for (const scope of [
      ['-o', 'nobodys', '-p', project, '-e', environment],
      ['-o', organization, '-p', 'none', '-e', environment],
      ['-o', organization, '-p', project, '-e', 'none'],
    ]) {
      expect([scope, (await site.cli.run(['pull', ...scope])).code]).toEqual([scope, 5]);
    }
  });

  test(sentence('5.1', 'command'), async () => {
    const headers = new Set(everyRequest().map(({ authorization }) => authorization));
    expect([...headers]).toEqual([`Bearer ${site.server.owner.token}`]);
  });

  test(sentence('5.2', 'command'), async () => {
    const { token } = await site.newToken();
    for (const presented of [token, site.server.owner.token]) {
      await place.output(['pull'], { env: { KEYFRAME_URL: recorder.url, KEYFRAME_TOKEN: presented } });
      expect(recorder.taken().map(({ authorization }) => authorization)).toEqual([`Bearer ${presented}`]);
    }
    expect([token, site.server.owner.token].map((text) => text.slice(0, 7))).toEqual(['kf_svc_', 'kf_pat_']);
  });

  test(sentence('9.1', 'command'), async () => {
    expect(everyRequest().filter(({ path }) => !path.startsWith('/api/v1/'))).toEqual([]);
  });
});

describe('4 the requests of the commands', () => {
  test(sentence('4.1.1', 'command'), async () => {
    expect(headOf('create')).toBe(`POST /api/v1/snapshots/${place.server.path} 201`);
    expect(requestOf('create').json).toEqual({ name: 'before', description: 'the last' });
    expect(requestOf('create').answered).toMatchObject({ id: anyId, name: 'before', description: 'the last' });
  });

  test(sentence('4.1.2', 'command'), async () => {
    expect(requestOf('create').contentType).toBe('application/json');
  });

  test(sentence('4.2', 'command'), async () => {
    expect(headOf('list')).toBe(`GET /api/v1/snapshots/${place.server.path} 200`);
    const snapshot = { id: anyId, createdBy: site.server.owner.id, createdAt: anyTime };
    expect(await place.json(['snapshot', 'list'])).toEqual({
      snapshots: [
        expect.objectContaining({ ...snapshot, name: 'before', description: 'the last' }),
        expect.objectContaining({ ...snapshot, name: null, description: null }),
      ],
      nextCursor: null,
    });
  });

  test(sentence('4.3.1', 'command'), async () => {
    const [, , snapshotId = ''] = lines.restore;
    expect(headOf('restore')).toBe(`POST /api/v1/snapshots/${place.server.path}/restore 200`);
    expect(requestOf('restore').json).toMatchObject({ snapshotId });
    expect((await site.cli.run(['snapshot', 'restore', '--yes'])).code).toBe(2);
    expect((await site.cli.run(['snapshot', 'restore', 'before', '--yes'])).code).not.toBe(0);
  });

  test(sentence('4.4.1', 'command'), async () => {
    expect(headOf('makeToken')).toBe('POST /api/v1/service-tokens/acme 201');
    const body = { name: 'ci', scope: 'project', projectId: site.server.project.id, permission: 'read' };
    expect(requestOf('makeToken').json).toEqual({ ...body, expiresInDays: 7 });
    expect(requestOf('makeToken').answered).toMatchObject({ ...body, expiresAt: anyTime });
  });

  test(sentence('4.5', 'command'), async () => {
    expect(headOf('pull')).toBe(`GET /api/v1/secrets/${place.server.path} 200`);
    expect(await place.json(['pull'])).toEqual(requestOf('pull').answered);
  });

  test(sentence('4.6.1', 'command'), async () => {
    expect(headOf('versions')).toBe(`GET /api/v1/versions/${place.server.path}/A?limit=20 200`);
    const { versions } = requestOf('versions').answered as { versions: unknown[] };
    const rest = { changedBy: site.server.owner.id, createdAt: anyTime };
    expect(versions).toEqual([
      expect.objectContaining({ ...rest, version: 3, changeType: 'rolled_back', comment: expect.any(String) }),
      expect.objectContaining({ ...rest, version: 2, changeType: 'updated', comment: null }),
      expect.objectContaining({ ...rest, version: 1, changeType: 'created', comment: null }),
    ]);
  });

  test(sentence('4.7.1', 'command'), async () => {
    expect(headOf('rollback')).toBe(`POST /api/v1/versions/${place.server.path}/A/rollback 201`);
    expect(requestOf('rollback').json).toEqual({ targetVersion: 1 });
    expect(requestOf('rollback').answered).toMatchObject({ version: 4, changeType: 'rolled_back' });
  });
});

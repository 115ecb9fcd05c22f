import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { StatusOutput } from '../../../src/cli/output/shapes.ts';
import { ownRelease } from '../../../src/lib/release.ts';
import { startTestApi } from '../../support/api/http.ts';
import { createUser } from '../../support/api/services.ts';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';

let site: CliSite;
let folder: CliFolder;
let url: string;

const resources = withCliSite((given) => {
  site = given;
  url = `http://127.0.0.1:${site.api.port}`;
});
beforeEach(async () => {
  folder = await site.newFolder();
});

type Env = Readonly<Record<string, string | undefined>>;

async function statusOf(env: Env = {}, args: readonly string[] = []): Promise<{ code: number | null } & StatusOutput> {
  const { code, stdout, stderr } = await folder.run(['status', ...args, '--output', 'json'], { env });
  expect(stderr).toBe('');
  expect(stdout).not.toMatch(/kf_\w+_\w/);
  return { code, ...(JSON.parse(stdout) as StatusOutput) };
}

function codesOf({ problems }: StatusOutput): [string, number][] {
  return problems.map(({ code, exitCode }) => [code, exitCode]);
}

test('shows server, identity, folder file and environment, and no token', async () => {
  await folder.patch({ set: { A: 'hunter2' } });
  const { code, stdout, stderr } = await folder.run(['status']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = new Map(stdout.split('\n').map((line) => line.split(/: +/, 2) as [string, string]));
  expect(lines.get('Server')).toBe(`${url} (KEYFRAME_URL)`);
  expect(lines.get('State')).toBe('ready');
  expect(lines.get('Server version')).toBe(ownRelease());
  expect(lines.get('Token')).toBe('from KEYFRAME_TOKEN');
  expect(lines.get('User')).toBe(site.world.owner.email);
  expect(lines.has('Token expires')).toBe(true);
  expect(lines.get('Folder file')).toBe(`${folder.pathOf('.keyframe.json')} (trusted)`);
  expect(lines.get('Environment')).toBe(`${folder.place} (from .keyframe.json)`);
  expect(lines.get('Revision')).toBe('1');
  expect(stdout).not.toMatch(/kf_\w+_\w|hunter2/);
  const { revision, revisionId } = await folder.list();
  const whole = await statusOf();
  expect(whole).toMatchObject({ code: 0, environment: { ...folder.scope, revision, revisionId }, problems: [] });
  expect(whole).toMatchObject({ command: { version: ownRelease() }, server: { version: ownRelease() } });
});

test.each([
  ['older than the server', '99.0.0', true],
  ['newer than the server', '0.0.1', false],
])('a command that is %s', async (_case, release, isOlder) => {
  const api = await startTestApi({}, { release });
  resources.defer(() => api.close());
  const { token } = await createUser(api.services);
  const other = `http://127.0.0.1:${api.port}`;
  const env = { KEYFRAME_URL: other, KEYFRAME_TOKEN: token.reveal() };
  folder.write('.keyframe.json', '{}');
  await folder.output(['trust']);
  const warning = `this command (${ownRelease()}) is older than the server (${release}); to replace it: curl -fsSLo keyframe ${other}/cli`;
  const { code, stdout, stderr } = await folder.run(['status'], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: isOlder ? `warning: ${warning}\n` : '' });
  expect(stdout).toContain(`Server version: ${release}\n`);
  const asJson = await folder.run(['status', '--output', 'json'], { env });
  expect({ ...asJson, stdout: '' }).toMatchObject({
    code: 0,
    stderr: isOlder ? `${JSON.stringify({ warning })}\n` : '',
  });
  expect(JSON.parse(asJson.stdout)).toMatchObject({ server: { version: release }, problems: [] });
});

test('works without a token, and ends with 3', async () => {
  const state = await statusOf({ KEYFRAME_TOKEN: undefined });
  expect(state).toMatchObject({ code: 3, tokenSource: null, identity: null, server: { isReady: true, version: null } });
  expect(state.environment).toEqual({ ...folder.scope, revision: null, revisionId: null });
  expect(codesOf(state)).toEqual([['unauthenticated', 3]]);
  const { stderr } = await folder.run(['status'], { env: { KEYFRAME_TOKEN: undefined } });
  expect(stderr).toContain(`error: there is no token for ${url}`);
  const refused = await statusOf({ KEYFRAME_TOKEN: `kf_pat_${'0'.repeat(71)}` });
  expect(refused).toMatchObject({ code: 3, tokenSource: 'KEYFRAME_TOKEN', identity: null });
});

test('works with a server that cannot be reached, and ends with 1', async () => {
  const state = await statusOf({ KEYFRAME_URL: 'http://127.0.0.1:9', KEYFRAME_TOKEN: undefined });
  const server = { url: 'http://127.0.0.1:9', isReachable: false, isReady: null };
  expect(state).toMatchObject({ code: 1, server, folder: { trust: 'trusted' }, identity: null });
  expect(codesOf(state)).toEqual([
    ['unreachable', 1],
    ['unauthenticated', 3],
  ]);
});

test('says why a server is not ready, and sends it no token', async () => {
  const sent: (string | undefined)[] = [];
  const answers = [
    { status: 503, body: '{"status":"unavailable","reason":"the database cannot be reached"}' },
    { status: 404, body: '{}' },
    { status: 502, body: 'Bad Gateway' },
  ];
  let answer = answers[0];
  const server = createServer((request, response) => {
    if (request.url === '/readyz') sent.push(request.headers.authorization);
    response.statusCode = answer?.status ?? 500;
    response.setHeader('Content-Type', 'application/json').end(answer?.body);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  resources.defer(() => void server.close());
  const env = { KEYFRAME_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const down = await statusOf(env);
  expect(down).toMatchObject({ code: 1, identity: null });
  expect(down.server).toMatchObject({ isReachable: true, isReady: false, reason: 'the database cannot be reached' });
  expect(codesOf(down)).toEqual([['failure', 1]]);
  answer = answers[1];
  expect((await statusOf(env)).server).toMatchObject({ isReachable: true, isReady: null });
  answer = answers[2];
  const foreign = await statusOf(env);
  expect(foreign).toMatchObject({ code: 1, server: { isReachable: false } });
  expect(codesOf(foreign)).toEqual([['not_keyframe', 1]]);
  expect(sent).toEqual([undefined, undefined, undefined]);
});

test('names an untrusted folder file without following it, and ends with 7', async () => {
  folder.write('.keyframe.json', JSON.stringify({ ...folder.scope, url: 'https://elsewhere.example.com' }));
  const elsewhere = await statusOf({ KEYFRAME_URL: undefined });
  expect(elsewhere).toMatchObject({ code: 7, server: { url: null }, folder: { trust: 'changed' }, environment: null });
  expect(codesOf(elsewhere)).toEqual([['not_confirmed', 7]]);
  const named = await statusOf();
  expect(named).toMatchObject({ code: 7, server: { url, isReady: true }, environment: null });
  expect(named.identity).toEqual(expect.any(Object));
  const { organization, project, environment } = folder.scope;
  const flags = ['-o', organization, '-p', project, '-e', environment];
  expect(await statusOf({}, flags)).toMatchObject({ code: 0, folder: { trust: 'changed' }, problems: [] });
});

test('an environment that does not exist is 5, and none at all is no problem', async () => {
  const missing = await statusOf({}, ['-e', 'no-such']);
  expect(missing).toMatchObject({ code: 5, environment: { environment: 'no-such', revision: null } });
  expect(codesOf(missing)).toEqual([['not_found', 5]]);
  folder.write('.keyframe.json', '{}');
  await folder.output(['trust']);
  expect(await statusOf()).toMatchObject({ code: 0, environment: null, problems: [] });
});

describe('with a service token and without a folder file', () => {
  const withToken = async (scope: 'environment' | 'project' | 'organization'): Promise<Env> => {
    rmSync(folder.pathOf('.keyframe.json'), { force: true });
    const { environment, project } = site.world;
    const place = {
      environment: { environmentId: environment.id },
      project: { projectId: project.id },
      organization: {},
    };
    const { token } = await site.world.serviceToken({ scope, ...place[scope], name: `for one ${scope}` });
    return { KEYFRAME_TOKEN: token.reveal() };
  };

  test('the token of an environment selects it', async () => {
    const env = await withToken('environment');
    const { organization, project, environment } = site.world.slugs;
    const place = { organization, project, environment };
    expect(await statusOf(env)).toMatchObject({
      code: 0,
      environment: place,
      selected: { organization: { slug: organization, source: 'token' }, environment: { source: 'token' } },
    });
    const { stdout } = await folder.run(['status'], { env });
    expect(stdout).toMatch(
      new RegExp(`^Environment: +${organization}/${project}/${environment} \\(from token\\)$`, 'm'),
    );
    expect(await folder.run(['list'], { env })).toMatchObject({ code: 0 });
  });

  test('a wider token selects what its scope names, and a variable the rest', async () => {
    const env = await withToken('project');
    const { organization, project } = site.world.slugs;
    const alone = await statusOf(env);
    expect(alone).toMatchObject({ code: 0, environment: null, problems: [] });
    expect(alone.selected).toEqual({
      organization: { slug: organization, source: 'token' },
      project: { slug: project, source: 'token' },
      environment: null,
    });
    const named = await folder.run(['status'], { env: { ...env, KEYFRAME_ENV: folder.scope.environment } });
    const place = `${organization}/${project}/${folder.scope.environment}`;
    expect(named.stdout).toContain(`${place} (organization and project from token, environment from KEYFRAME_ENV)`);
    const { code, stderr } = await folder.run(['list'], { env });
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        `the environment is missing: the scope of the token is ${organization}/${project}\n  Add -e <environment>, set KEYFRAME_ENV, or`,
      ),
    });
  });

  test('a folder file that is not trusted redirects no command with variables, and stops one with a token', async () => {
    const env = await withToken('organization');
    const { organization, project } = site.world.slugs;
    folder.write('.keyframe.json', JSON.stringify({ organization: 'evil', project: 'evil', environment: 'evil' }));
    const variables = { KEYFRAME_ORG: organization, KEYFRAME_PROJECT: project, KEYFRAME_ENV: folder.scope.environment };
    expect(await folder.run(['list'], { env: { ...env, ...variables } })).toMatchObject({ code: 0 });
    expect(await folder.run(['list'], { env })).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('KEYFRAME_ORG, KEYFRAME_PROJECT, KEYFRAME_ENV'),
    });
  });

  test('a revoked token is named, not the missing environment', async () => {
    rmSync(folder.pathOf('.keyframe.json'), { force: true });
    const { id, token } = await site.world.serviceToken({ name: 'gone' });
    await folder.output(['token', 'revoke-service', '-o', site.world.slugs.organization, '--id', id, '--yes']);
    const { code, stderr } = await folder.run(['list'], { env: { KEYFRAME_TOKEN: token.reveal() } });
    expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining('the token was revoked') });
  });
});

test('names the setting that server and token come from', async () => {
  const token = site.world.owner.token.reveal();
  await folder.output(['login', '--token', '-', '--url', url], { input: token });
  await folder.output(['login', '--profile', 'second', '--token', '-', '--url', url], { input: token });
  folder.write('token', token);
  const none = { KEYFRAME_URL: undefined, KEYFRAME_TOKEN: undefined };
  const sources = async (env: Env, ...args: string[]): Promise<unknown[]> => {
    const { code, server, tokenSource, profile } = await statusOf({ ...none, ...env }, args);
    return [code, server.source, tokenSource, profile];
  };
  expect(await sources({})).toEqual([0, 'login', 'login', null]);
  expect(await sources({}, '--profile', 'second')).toEqual([0, '--profile', '--profile', 'second']);
  expect(await sources({ KEYFRAME_PROFILE: 'second' })).toEqual([0, 'KEYFRAME_PROFILE', 'KEYFRAME_PROFILE', 'second']);
  expect(await sources({}, '--url', url)).toEqual([0, '--url', 'login', null]);
  expect(await sources({}, '--token-file', 'token')).toEqual([0, 'login', '--token-file', null]);
  expect(await sources({ KEYFRAME_TOKEN_FILE: 'token' })).toEqual([0, 'login', 'KEYFRAME_TOKEN_FILE', null]);
  await folder.output(['init', '-e', folder.scope.environment, '--url', url]);
  expect(await sources({})).toEqual([0, '.keyframe.json', 'login', null]);
});

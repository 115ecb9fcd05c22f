import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import type { AuditEntryView } from '../../../src/wire/audit.ts';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';
import type { World } from '../../support/api/services.ts';
import { recordSharedRead } from '../../support/api/shared-read.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;
let scope: string[];
let line: string[];

const resources = withCommandWorld(async (given) => {
  ({ api, world, cli, scope } = given);
  line = ['audit', '-o', world.slugs.organization];
  await cli.output(['set', 'A=1', ...scope]);
  const create = ['token', 'create-service', '-o', world.slugs.organization, '-n', 'ci', '-s', 'organization'];
  const token = (await cli.output([...create, '-p', 'read', '--output', 'token'])).trim();
  await cli.output(['list', ...scope], { env: { KEYFRAME_TOKEN: token } });
});

async function entries(...args: string[]): Promise<AuditEntryView[]> {
  return (await cli.json<{ entries: AuditEntryView[] }>([...line, ...args])).entries;
}

/** The API behind a proxy that answers 429 once a token was made. `lists` has the paths of those requests. */
async function limitedAfterCreation(): Promise<{ url: string; lists: string[] }> {
  const lists: string[] = [];
  let isMade = false;
  const proxy = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const isLimited = isMade;
    if (isLimited) lists.push(url);
    isMade ||= method === 'POST';
    const answer = async (): Promise<void> => {
      const body = method === 'POST' ? await text(request) : null;
      const { authorization = '', 'content-type': type = 'application/json' } = headers;
      const forwarded = { authorization, 'content-type': type };
      const answered = await fetch(`http://127.0.0.1:${api.port}${url}`, { method, body, headers: forwarded });
      const problem = JSON.stringify({
        type: 'about:blank',
        title: 'x',
        status: 429,
        code: 'limit_exceeded',
        detail: 'x',
      });
      response.writeHead(isLimited ? 429 : answered.status, {
        'content-type': isLimited ? 'application/problem+json' : (answered.headers.get('content-type') ?? ''),
      });
      response.end(isLimited ? problem : await answered.text());
    };
    void answer();
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  resources.defer(() => new Promise<void>((resolve) => void proxy.close(() => resolve())));
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, lists };
}

describe('audit', () => {
  test('takes actors by e-mail address or name', async () => {
    const byUser = await entries('--actor', world.owner.email.toUpperCase());
    expect(byUser.length).toBeGreaterThan(0);
    expect(new Set(byUser.map(({ actor }) => actor.id))).toEqual(new Set([world.owner.id]));
    const byToken = await entries('--actor', 'ci');
    expect(byToken.map(({ action }) => action)).toEqual(['secret.list']);
    expect(await cli.json(['audit', '--instance', '--actor', world.owner.email])).toHaveProperty('entries');
  });

  test('says which actor does not exist, or is meant by several', async () => {
    for (const actor of ['absent@example.com', 'nothing']) {
      const { code, stderr } = await cli.run([...line, '--actor', actor]);
      expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining(actor) });
    }
    const create = ['token', 'create-service', '-o', world.slugs.organization, '-n', 'twice', '-s', 'organization'];
    const ids = [];
    for (let made = 0; made < 2; made += 1) {
      ids.push((await cli.output([...create, '-p', 'read', '--output', 'name'])).trim());
    }
    const { code, stderr } = await cli.run([...line, '--actor', 'twice']);
    expect(code).toBe(2);
    for (const id of ids) expect(stderr).toContain(`--actor ${id}`);
  });

  test.each(['1h', '90m', '2d', '1w', '2020-01-31', '2020-01-31T12:00:00Z', '2020-01-31T12:00:00+02:00'])(
    'takes --since %s',
    async (since) => {
      expect((await entries('--since', since)).length).toBeGreaterThan(2);
    },
  );

  test('compares relative times with now', async () => {
    expect(await entries('--since', '0s')).toEqual([]);
    expect((await entries('--since', '1h')).length).toBeGreaterThan(2);
    for (const wrong of ['1', 'soon', '1y', '2020-13-01', '2020-01-31T12:00:00']) {
      const { code, stderr } = await cli.run([...line, '--since', wrong]);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--since must be a time') });
    }
  });

  test('says that an action does not exist, and which do', async () => {
    const { stderr } = await cli.run([...line, '--action', 'secret.reed']);
    expect(stderr).toContain(
      'No action is called secret.reed; there are: secret.delete, secret.list, secret.read, secret.write',
    );
    expect((await cli.run([...line, '--action', 'foo.'])).stderr).toContain(
      'audit., authenticate, change., cluster., consumer., environment.',
    );
    // Without its dot, a group is no action.
    expect((await cli.run([...line, '--action', 'secret'])).stderr).toContain(
      'No action is called secret; there are: ',
    );
    expect((await cli.run([...line, '--action', 'secret.delete'])).stderr).toBe('There are no such entries.\n');
  });

  test('shows the place of an entry first, and no id beside its name', async () => {
    const { project, environment } = world.slugs;
    const row = (await cli.output([...line, '--action', 'secret.list'])).split('\n')[1] ?? '';
    expect(row).toContain(`  ${project}/${environment} `);
    expect(row).not.toContain('revisionId');
    expect(row).not.toContain('organization=');
    expect(row.length).toBeLessThan(170);
    const written = (await cli.output([...line, '--action', 'secret.write'])).split('\n')[1] ?? '';
    expect(written).toContain(`  ${project}/${environment} setKeys=A `);
    expect(written).not.toContain('deletedKeys');
  });

  test('shows the first SecretSyncs of a shared entry, and all with --output json', async () => {
    const slugs = { ...world.slugs, environment: 'shared' };
    const secretSyncs = await recordSharedRead(api.services, slugs);
    const row = (await cli.output([...line, '--action', 'secret.list'])).split('\n')[1] ?? '';
    expect(row).toContain(`  ${slugs.project}/shared `);
    const shown = secretSyncs.slice(0, 5).map(({ name }) => name);
    expect(row).toContain(` secretSyncs=${shown.join(',')} and 2 more`);
    // In its column, and not in the target again.
    expect(row.match(/\btest\b/g)).toHaveLength(2);
    const [entry] = await entries('--action', 'secret.list');
    expect(entry?.target['secretSyncs']).toEqual(secretSyncs);
  });
});

describe('service tokens', () => {
  test('have the slugs of their places in tables', async () => {
    const { organization, project, environment } = world.slugs;
    const create = ['token', 'create-service', '-n', 'placed', '-p', 'read', '-o', organization];
    const place = ['--project', project, '-e', environment];
    const made = await cli.output([...create, '-s', 'environment', ...place]);
    expect(made).toMatch(new RegExp(`^Scope: +environment ${project}/${environment}$`, 'm'));
    await cli.output([...create, '-s', 'project', '--project', project]);
    const list = await cli.output(['token', 'list-service', '-o', organization]);
    expect(list).toMatch(new RegExp(` environment ${project}/${environment} `));
    expect(list).toMatch(new RegExp(` project ${project} `));
  });

  test.each(['create-service', 'rotate-service'])(
    'are printed by %s although the server answers no further request',
    async (verb) => {
      const [{ organization, project, environment }, place] = [world.slugs, ['-o', world.slugs.organization]];
      const create = ['-n', 'shown', '-p', 'read', '-s', 'environment', '--project', project, '-e', environment];
      const { id } = await cli.json<{ id: string }>(['token', 'create-service', ...place, ...create]);
      const words = verb === 'create-service' ? create : ['--id', id, '--overlap', '0', '--yes'];
      const { url, lists } = await limitedAfterCreation();
      const { code, stdout } = await cli.run(['token', verb, ...place, ...words], { env: { KEYFRAME_URL: url } });
      expect(lists).toContain(`/api/v1/projects/${organization}`);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^Token: +kf_svc_\w+$/m);
    },
  );

  test.each([
    ['1h', 3_600_000],
    ['1h30m', 5_400_000],
    ['45s', 45_000],
    ['2', 172_800_000],
    ['2d', 172_800_000],
  ])('expire after --expires-in %s', async (lifetime, ms) => {
    const create = ['token', 'create-service', '-n', 'x', '-p', 'read', '-s', 'organization'];
    const words = [...create, '-o', world.slugs.organization, '--expires-in', lifetime];
    const beganMs = performance.now();
    const { createdAt, expiresAt } = await cli.json<{ createdAt: string; expiresAt: string }>(words);
    const tookMs = performance.now() - beganMs;
    const lasts = Date.parse(expiresAt) - Date.parse(createdAt);
    // The clock of the server is read to the second, before the token is created.
    expect(lasts).toBeLessThan(ms + 1_000);
    expect(lasts).toBeGreaterThan(ms - 1_000 - tookMs);
  });

  test.each(['0', '0h', '-1', 'soon', '1.5h', '1y'])('--expires-in %s is refused', async (lifetime) => {
    const { code, stderr } = await cli.run(['token', 'create', '-n', 'x', `--expires-in=${lifetime}`]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--expires-in must be') });
  });

  test('are printed alone with --output token, which other commands refuse before they do anything', async () => {
    expect(await cli.output(['token', 'create', '-n', 'x', '--output', 'token'])).toMatch(/^kf_pat_\w+\n$/);
    const { code, stderr } = await cli.run(['set', 'NEVER=1', ...scope, '--output', 'token']);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('create a token') });
    expect(await cli.output(['list', ...scope])).not.toContain('NEVER');
  });
});

describe('administrators', () => {
  test('are made and unmade after a confirmation, and the last one stays', async () => {
    const email = 'second@example.com';
    await cli.output(['user', 'create', email]);
    expect((await cli.run(['user', 'grant-admin', email])).code).toBe(7);
    expect(await cli.output(['user', 'grant-admin', email, '--yes'])).toMatch(/^Administrator: +yes$/m);
    expect((await cli.run(['user', 'revoke-admin', email])).code).toBe(7);
    expect(await cli.output(['user', 'revoke-admin', email, '--yes'])).toMatch(/^Administrator: +no$/m);
    const last = await cli.run(['user', 'revoke-admin', world.owner.email, '--yes']);
    expect(last).toMatchObject({ code: 6, stderr: expect.stringContaining('last instance admin') });
  });

  test('create tokens for others', async () => {
    const email = 'third@example.com';
    await cli.output(['user', 'create', email]);
    const words = ['user', 'token', email, '-n', 'recovery', '--expires-in', '1h', '--output', 'token'];
    const token = (await cli.output(words)).trim();
    const me = await cli.json(['whoami'], { env: { KEYFRAME_TOKEN: token } });
    expect(me).toMatchObject({ name: email, instanceAdmin: false });
    expect((await cli.run(words, { env: { KEYFRAME_TOKEN: token } })).code).toBe(4);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { CreatedServiceTokenView, ServiceTokenListView } from '../../../src/wire/service-tokens.ts';
import type { SnapshotListView, SnapshotView } from '../../../src/wire/snapshots.ts';
import type { VersionListView } from '../../../src/wire/versions.ts';
import type { HttpClient } from '../../support/api/http.ts';
import type { World } from '../../support/api/services.ts';
import type { CliRunner, CommandOptions } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import { RequestRecorder } from './request-recorder.ts';

let world: World;
let cli: CliRunner;
/** Of the world's owner, past the command. */
let client: HttpClient;
/** The slugs of the world's environment as they stand in a path, and as flags. */
let path: string;
let scope: readonly string[];
let recorder: RequestRecorder;

const resources = withCommandWorld(async ({ api, ...given }) => {
  ({ world, cli, scope } = given);
  client = api.client(world.owner.token);
  path = Object.values(world.slugs).join('/');
  recorder = await RequestRecorder.start(resources, `http://127.0.0.1:${api.port}`);
});

beforeAll(async () => {
  await write({ A: 'value-1', GONE: 'x' });
  await write({ A: 'value-2' }, ['GONE']);
});

async function write(set: Readonly<Record<string, string>>, deleted: readonly string[] = []): Promise<void> {
  await client.expectStatus(200, 'PATCH', `/secrets/${path}`, { set, delete: deleted });
}

/** Runs with this token. */
function as({ token }: { readonly token: string }): CommandOptions {
  return { env: { KEYFRAME_TOKEN: token } };
}

/** Makes a service token of the organization. */
async function newToken(permission: string): Promise<CreatedServiceTokenView> {
  const body = { name: 'ci', scope: 'organization', permission };
  return client.expectStatus(201, 'POST', `/service-tokens/${world.slugs.organization}`, body);
}

/** What a refused command must leave as it was. */
async function state(): Promise<unknown> {
  const tokens = `/service-tokens/${world.slugs.organization}`;
  return [await client.expectStatus(200, 'GET', `/secrets/${path}`), await client.expectStatus(200, 'GET', tokens)];
}

/** The commands of docs/interface.md 4.9, with what each needs. */
function commandLines(snapshotId: string, tokenId: string): readonly (readonly string[])[] {
  const inOrganization = ['-o', world.slugs.organization];
  const inProject = ['-s', 'project', '--project-id', world.project.id];
  return [
    ['snapshot', 'create', '-n', 'before', '-d', 'the last', ...scope],
    ['snapshot', 'list', ...scope],
    ['snapshot', 'restore', snapshotId, '--yes', '--no-backup', '--rewrite-unchanged'],
    ['versions', 'A', ...scope],
    ['rollback', 'A', '--version', '1', ...scope],
    ['token', 'create-service', ...inOrganization, '-n', 'ci', ...inProject, '-p', 'read', '--expires-in', '7'],
    ['token', 'list-service', ...inOrganization],
    ['token', 'revoke-service', '--yes', ...inOrganization, '--id', tokenId],
    ['pull', ...scope],
  ];
}

describe('the commands of the interface', () => {
  test('send its requests, as JSON with the token in the header', async () => {
    const { organization } = world.slugs;
    const { id: snapshotId } = await client.expectStatus<SnapshotView>(201, 'POST', `/snapshots/${path}`);
    const { id: tokenId } = await newToken('read');
    const env = { KEYFRAME_URL: recorder.url };
    for (const line of commandLines(snapshotId, tokenId)) await cli.output(line, { env });
    const sent = recorder.taken();
    const token = { name: 'ci', scope: 'project', projectId: world.project.id, permission: 'read', expiresInDays: 7 };
    // What shows tokens also reads the slugs of their projects.
    const projects = [`GET /api/v1/projects/${organization} 200`, undefined];
    const lines = sent.map(({ method, path: asked, status, body }) => [
      `${method} ${asked} ${status}`,
      body === '' ? undefined : (JSON.parse(body) as unknown),
    ]);
    expect(lines).toEqual([
      [`POST /api/v1/snapshots/${path} 201`, { name: 'before', description: 'the last' }],
      [`GET /api/v1/snapshots/${path} 200`, undefined],
      // A snapshot's place is looked up by its id.
      [`GET /api/v1/snapshots/${snapshotId} 200`, undefined],
      [`POST /api/v1/snapshots/${path}/restore 200`, expect.objectContaining({ snapshotId })],
      [`GET /api/v1/versions/${path}/A?limit=20 200`, undefined],
      [`POST /api/v1/versions/${path}/A/rollback 201`, { targetVersion: 1, undelete: false }],
      [`POST /api/v1/service-tokens/${organization} 201`, token],
      projects,
      [`GET /api/v1/service-tokens/${organization} 200`, undefined],
      projects,
      [`DELETE /api/v1/service-tokens/${organization}/${tokenId} 204`, undefined],
      [`GET /api/v1/secrets/${path} 200`, undefined],
    ]);
    const headers = new Set(sent.map(({ authorization }) => authorization));
    expect([...headers]).toEqual([`Bearer ${world.owner.token.reveal()}`]);
    const types = new Set(sent.filter(({ body }) => body !== '').map(({ contentType }) => contentType));
    expect([...types]).toEqual(['application/json']);
  });

  test('send nothing without a token, and end with 3', async () => {
    const env = { KEYFRAME_URL: recorder.url, KEYFRAME_TOKEN: undefined };
    const lines = commandLines(world.project.id, world.project.id);
    const ends = await Promise.all(lines.map((line) => cli.run(line, { env })));
    expect(ends.map(({ code, stdout }) => [code, stdout])).toEqual(lines.map(() => [3, '']));
    expect(recorder.taken()).toEqual([]);
  });

  test('take the flags of an environment in both forms', async () => {
    const { organization, project, environment } = world.slugs;
    const values = JSON.parse(await cli.output(['pull', ...scope, '--format', 'json'])) as unknown;
    for (const flags of [
      ['-o', organization, '-p', project, '-e', environment],
      ['--org', organization, '--project', project, '--env', environment],
    ]) {
      const { id } = await cli.json<SnapshotView>(['snapshot', 'create', ...flags]);
      const { snapshots } = await cli.json<SnapshotListView>(['snapshot', 'list', ...flags]);
      expect(snapshots[0]?.id).toBe(id);
      const { version } = await cli.json<{ version: number }>(['rollback', 'A', '--version', '1', ...flags]);
      const { versions } = await cli.json<VersionListView>(['versions', 'A', ...flags]);
      expect(versions[0]?.version).toBe(version);
      expect(JSON.parse(await cli.output(['pull', ...flags, '--format', 'json']))).toEqual(values);
    }
  });

  test('take the flags of a service token in both forms, of which -p is the permission', async () => {
    const { organization } = world.slugs;
    for (const [org, name, scopeFlag, permission] of [
      ['-o', '-n', '-s', '-p'],
      ['--org', '--name', '--scope', '--permission'],
    ] as const) {
      const words = [org, organization, name, `by ${name}`, scopeFlag, 'organization', permission, 'read_write'];
      const made = await cli.json<{ id: string }>(['token', 'create-service', ...words]);
      const wanted = { name: `by ${name}`, scope: 'organization', permission: 'read_write', expiresAt: null };
      expect(made).toMatchObject(wanted);
      const revoked = await cli.run(['token', 'revoke-service', '--yes', org, organization, '--id', made.id]);
      expect(revoked).toMatchObject({ code: 0, stdout: '', stderr: `Service token ${made.id} is revoked.\n` });
      const { serviceTokens } = await cli.json<ServiceTokenListView>(['token', 'list-service', org, organization]);
      expect(serviceTokens[0]).toMatchObject({ id: made.id, revokedAt: expect.any(String) });
    }
  });

  test('name what is missing, and end with 2', async () => {
    const create = ['token', 'create-service', '-o', 'acme'];
    const lines: readonly (readonly [readonly string[], string])[] = [
      [['versions', ...scope], 'secret_key'],
      [['rollback', '--version', '1', ...scope], 'secret_key'],
      [['snapshot', 'create', '-o', 'acme'], '-p <project>'],
      [['snapshot', 'restore', '--yes'], 'snapshot'],
      [['token', 'create-service', '-n', 'x', '-s', 'organization', '-p', 'read'], '-o <organization>'],
      [[...create, '-s', 'organization', '-p', 'read'], "'-n, --name <name>'"],
      [[...create, '-n', 'x', '-p', 'read'], "'-s, --scope <scope>'"],
      [[...create, '-n', 'x', '-s', 'organization'], "'-p, --permission <permission>'"],
      [['token', 'list-service'], '-o <organization>'],
      [['token', 'revoke-service', '-o', 'acme', '--yes'], "'--id <id>'"],
    ];
    for (const [line, missing] of lines) {
      const { code, stdout, stderr } = await cli.run(line);
      expect([line, code, stdout, stderr]).toEqual([line, 2, '', expect.stringContaining(missing)]);
    }
  });

  test('refuse values that are none, and change nothing', async () => {
    const create = ['token', 'create-service', '-o', world.slugs.organization, '-n', 'x', '-s'];
    const before = await state();
    const lines: readonly (readonly [readonly string[], string])[] = [
      ...['0', '-1', 'all'].map((limit) => [['versions', 'A', '--limit', limit, ...scope], '--limit'] as const),
      ...['0', 'vv1', '1.5', ''].map(
        (version) => [['rollback', 'A', '--version', version, ...scope], '--version must be a whole number'] as const,
      ),
      [[...create, 'organization', '-p', 'shop'], '--permission must be one of read, read_write'],
      [[...create, 'team', '-p', 'read'], '--scope must be one of organization, project, environment'],
      [[...create, 'project', '-p', 'read', '--project-id', 'shop'], '--project-id'],
      [[...create, 'organization', '-p', 'read', '--expires-in', '3651'], '--expires-in'],
    ];
    for (const [line, message] of lines) {
      const { code, stderr } = await cli.run(line);
      expect([line, code, stderr]).toEqual([line, 2, expect.stringContaining(message)]);
    }
    expect(await state()).toEqual(before);
  });

  test('print with --output json what the server answers', async () => {
    const { organization } = world.slugs;
    const answers: readonly (readonly [readonly string[], string])[] = [
      [['pull', ...scope], `/secrets/${path}`],
      [['versions', 'A', ...scope], `/versions/${path}/A`],
      [['snapshot', 'list', ...scope], `/snapshots/${path}`],
      [['token', 'list-service', '-o', organization], `/service-tokens/${organization}`],
    ];
    for (const [line, asked] of answers) {
      expect(await cli.json(line)).toEqual(await client.expectStatus(200, 'GET', asked));
    }
  });

  test('show versions as v1, v2 and so on, and none of their values', async () => {
    await write({ SHOWN: 'value-1' });
    await write({ SHOWN: 'value-2' });
    await cli.output(['rollback', 'SHOWN', '--version', 'v1', ...scope]);
    const output = await cli.output(['versions', 'SHOWN', ...scope]);
    expect(output).toMatch(/^VERSION.*\nv3 .*\nv2 .*\nv1 .*\n$/);
    expect(output).not.toContain('value-');
  });

  // A wait that ends with 9 takes seconds: test/integration/cli/watch.test.ts has it.
  test('end with each exit code', async () => {
    const reader = await newToken('read');
    const ended = await newToken('read');
    await client.expectStatus(204, 'DELETE', `/service-tokens/${world.slugs.organization}/${ended.id}`);
    writeFileSync(join(cli.folder, 'other.env'), 'A=other\n');
    const lines: readonly (readonly [readonly string[], CommandOptions?])[] = [
      [['list'], as(reader)],
      [['list'], { env: { KEYFRAME_URL: 'http://127.0.0.1:1' } }],
      [['list', '--nonsense']],
      [['list'], as(ended)],
      [['set', 'A=9'], as(reader)],
      [['get', 'NONE']],
      [['rollback', 'GONE', '--version', '1']],
      [['unset', 'A']],
      [['diff', 'other.env', '--exit-code']],
    ];
    const ends = await Promise.all(lines.map(([line, options]) => cli.run([...line, ...scope], options)));
    expect(ends.map(({ code }) => code)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(ends[3]?.stderr).toContain('revoked');
    expect(JSON.stringify(ends)).not.toContain(ended.token);
  });
});

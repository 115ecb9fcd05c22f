import { readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CreatedServiceTokenView, ServiceTokenListView } from '../../../src/wire/service-tokens.ts';
import type { VersionListView } from '../../../src/wire/versions.ts';
import { type CommandPlace, CommandSite, anyTime, as, bothForms } from './command-site.ts';
import { expectBetween } from './contract-site.ts';
import { sentence } from './sentence.ts';

const day = 86_400_000;
let site: CommandSite;
/** With 22 versions of MANY, whose values are their numbers. */
let many: CommandPlace;

beforeAll(async () => {
  site = await CommandSite.start();
  many = await site.newPlace();
  for (let version = 1; version <= 22; version += 1) await many.server.set({ MANY: String(version) });
});
afterAll(() => site.close());

/** The numbers from one down to another. */
function downFrom(from: number, to: number): number[] {
  return Array.from({ length: from - to + 1 }, (_, index) => from - index);
}

async function createToken(...args: readonly string[]): Promise<CreatedServiceTokenView> {
  return await site.cli.json(['token', 'create-service', ...args]);
}

/** Runs `token create-service` with one of its flags left out, and expects that it says so. */
async function expectRequired(flag: string, args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await site.cli.run(['token', 'create-service', ...args]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(flag);
}

describe('4.9 and 8 versions and rollback', () => {
  test(sentence('4.9.4.scope', 'command'), async () => {
    const place = await site.newPlace({ A: '1' });
    for (const flags of bothForms(place)) {
      const { versions } = await site.cli.json<VersionListView>(['versions', 'A', ...flags]);
      expect(versions).toEqual([expect.objectContaining({ version: 1, changeType: 'created' })]);
    }
    const { code, stderr } = await place.run(['versions']);
    expect(code).toBe(2);
    expect(stderr).toContain('secret_key');
  });

  test(sentence('4.9.4.limit', 'command'), async () => {
    const shown = async (...args: readonly string[]): Promise<number[]> =>
      (await many.json<VersionListView>(['versions', 'MANY', ...args])).versions.map(({ version }) => version);
    expect(await shown()).toEqual(downFrom(22, 3));
    expect(await shown('--limit', '1')).toEqual([22]);
    expect(await shown('--limit', '22')).toEqual(downFrom(22, 1));
    expect(await shown('--limit', '5000')).toEqual(downFrom(22, 1));
    for (const limit of ['0', '-1', 'all']) {
      expect((await many.run(['versions', 'MANY', '--limit', limit])).code).toBe(2);
    }
  });

  test(sentence('8.1', 'command'), async () => {
    const { stdout, stderr } = await many.run(['versions', 'MANY']);
    const rows = stdout.trimEnd().split('\n').slice(1);
    expect(rows.map((row) => row.split(' ')[0])).toEqual(downFrom(22, 3).map((version) => `v${version}`));
    expect(stderr).toBe('Older versions are not shown; --limit shows more than 20.\n');
    expect(await site.cli.output(['versions', '--help'])).toMatch(/--limit <n> .*\(default: 20\)/);
  });

  test(sentence('4.9.5.version', 'command'), async () => {
    const place = await site.newPlace({ A: '1' });
    await place.server.set({ A: '2' });
    const missing = await place.run(['rollback', 'A']);
    expect([missing.code, missing.stdout]).toEqual([2, '']);
    expect(missing.stderr).toContain("required option '--version <n>' not specified");
    for (const version of ['0', 'vv1', '1.5', '']) {
      const { code, stderr } = await place.run(['rollback', 'A', '--version', version]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('--version must be a whole number')]);
    }
    expect(await place.secrets()).toEqual({ A: ['2', 2] });
    await place.output(['rollback', 'A', '--version', '1']);
    expect(await place.secrets()).toEqual({ A: ['1', 3] });
  });

  test(sentence('4.9.5.scope', 'command'), async () => {
    const place = await site.newPlace({ A: '1', B: 'b' });
    await place.server.set({ A: '2' });
    for (const flags of bothForms(place)) await site.cli.output(['rollback', 'A', '--version', '1', ...flags]);
    expect(await place.secrets()).toEqual({ A: ['1', 4], B: ['b', 1] });
    expect((await place.run(['rollback', '--version', '1'])).code).toBe(2);
  });
});

describe('4.9 token', () => {
  const rest = ['-s', 'organization', '-p', 'read'];

  test(sentence('4.9.6.org', 'command'), async () => {
    const { organization } = site.server;
    for (const flag of ['-o', '--org']) {
      const made = await createToken(flag, 'acme', '-n', 'ci', ...rest);
      expect(made).toMatchObject({ organizationId: organization.id });
      expect((await site.tokens())[0]?.id).toBe(made.id);
    }
    await expectRequired('-o <organization>', ['-n', 'ci', ...rest]);
  });

  test(sentence('4.9.6.name', 'command'), async () => {
    for (const flag of ['-n', '--name']) {
      expect(await createToken('-o', 'acme', flag, `by ${flag}`, ...rest)).toMatchObject({ name: `by ${flag}` });
    }
    await expectRequired("'-n, --name <name>'", ['-o', 'acme', ...rest]);
  });

  test(sentence('4.9.6.scope', 'command'), async () => {
    const line = ['-o', 'acme', '-n', 'ci', '-p', 'read'];
    for (const flag of ['-s', '--scope']) {
      expect(await createToken(...line, flag, 'organization')).toMatchObject({
        scope: 'organization',
        projectId: null,
      });
    }
    await expectRequired("'-s, --scope <scope>'", line);
  });

  test(sentence('4.9.6.project-id', 'command'), async () => {
    const { project } = site.server;
    const line = ['-o', 'acme', '-n', 'ci', '-p', 'read', '-s', 'project'];
    expect(await createToken(...line, '--project-id', project.id)).toMatchObject({ projectId: project.id });
    expect((await site.cli.run(['token', 'create-service', ...line, '--project-id', 'shop'])).code).toBe(2);
    await expectRequired('--project-id <uuid>', line);
  });

  test(sentence('4.9.6.permission', 'command'), async () => {
    const line = ['-o', 'acme', '-n', 'ci', '-s', 'organization'];
    for (const [flag, permission] of [
      ['-p', 'read'],
      ['-p', 'read_write'],
      ['--permission', 'read'],
    ] as const) {
      expect(await createToken(...line, flag, permission)).toMatchObject({ permission, projectId: null });
    }
    const { code, stderr } = await site.cli.run(['token', 'create-service', ...line, '-p', 'shop']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--permission must be one of read, read_write')]);
    await expectRequired("'-p, --permission <permission>'", line);
  });

  test(sentence('4.9.6.expires-in', 'command'), async () => {
    const line = ['-o', 'acme', '-n', 'ci', ...rest];
    for (const days of [1, 90]) {
      const from = Date.now();
      const { expiresAt } = await createToken(...line, '--expires-in', String(days));
      expectBetween(expiresAt ?? '', [from + days * day, Date.now() + days * day]);
    }
    expect(await createToken(...line)).toMatchObject({ expiresAt: null });
    for (const days of ['0', '3651', '0h']) {
      expect((await site.cli.run(['token', 'create-service', ...line, '--expires-in', days])).code).toBe(2);
    }
  });

  test(sentence('4.9.7', 'command'), async () => {
    const newest = (await site.tokens()).map(({ id }) => id);
    for (const flag of ['-o', '--org']) {
      const list = await site.cli.json<ServiceTokenListView>(['token', 'list-service', flag, 'acme']);
      expect(list.serviceTokens.map(({ id }) => id)).toEqual(newest);
    }
    expect((await site.cli.run(['token', 'list-service'])).code).toBe(2);
    expect((await site.cli.run(['token', 'list-service', '-o', 'nobodys'])).code).toBe(5);
  });

  test(sentence('4.9.8.org', 'command'), async () => {
    for (const flag of ['-o', '--org']) {
      const { id } = await site.newToken();
      await site.cli.output(['token', 'revoke-service', '--yes', flag, 'acme', '--id', id]);
      expect((await site.tokens())[0]).toMatchObject({ id, revokedAt: anyTime });
    }
    const { id } = await site.newToken();
    expect((await site.cli.run(['token', 'revoke-service', '--yes', '--id', id])).code).toBe(2);
    expect((await site.tokens())[0]).toMatchObject({ id, revokedAt: null });
  });

  test(sentence('4.9.8.id', 'command'), async () => {
    const kept = await site.newToken();
    const ended = await site.newToken();
    await site.cli.output(['token', 'revoke-service', '--yes', '-o', 'acme', '--id', ended.id]);
    expect((await site.tokens()).slice(0, 2).map(({ id, revokedAt }) => [id, revokedAt])).toEqual([
      [ended.id, anyTime],
      [kept.id, null],
    ]);
    const missing = await site.cli.run(['token', 'revoke-service', '--yes', '-o', 'acme']);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("required option '--id <id>'")]);
    const { code } = await site.cli.run([
      'token',
      'revoke-service',
      '--yes',
      '-o',
      'acme',
      '--id',
      site.server.project.id,
    ]);
    expect(code).toBe(5);
  });

  test(sentence('4.9.9', 'command'), async () => {
    const { token } = await site.newToken();
    const { userFile } = site.cli;
    const unset = { env: { KEYFRAME_TOKEN: undefined } };
    expect((await site.cli.run(['whoami'], unset)).code).toBe(3);
    const { code, stdout, stderr } = await site.cli.run(['token', 'set', token], unset);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).not.toContain(token);
    expect(JSON.parse(readFileSync(userFile, 'utf8'))).toEqual({ url: site.server.url, token });
    expect([statSync(userFile).mode & 0o777, statSync(dirname(userFile)).mode & 0o777]).toEqual([0o600, 0o700]);
    const nothing = { env: { KEYFRAME_TOKEN: undefined, KEYFRAME_URL: undefined } };
    expect(await site.cli.json(['whoami'], nothing)).toMatchObject({ type: 'service_token', scope: 'organization' });
    expect(await many.output(['get', 'MANY'], nothing)).toBe('22');
    rmSync(userFile);
  });
});

describe('4.9 pull', () => {
  test(sentence('4.9.10', 'command'), async () => {
    const values = { A: 'one', LINES: 'two\nlines "and" $more', EMPTY: '' };
    const place = await site.newPlace(values);
    for (const flags of bothForms(place)) {
      expect(JSON.parse(await site.cli.output(['pull', ...flags, '--format', 'json']))).toEqual(values);
    }
    expect(await place.json(['pull'])).toEqual(await place.server.list());
    const { token } = await site.newToken('-s', 'organization', '-p', 'read');
    expect(await place.output(['pull', '--output', 'name'], as(token))).toBe('A\nEMPTY\nLINES\n');
  });
});

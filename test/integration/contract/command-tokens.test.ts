import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AuditEntryView } from '../../../src/wire/audit.ts';
import type { ServiceTokenListView } from '../../../src/wire/service-tokens.ts';
import { type CommandPlace, CommandSite, anyId, anyTime, as } from './command-site.ts';
import { type Named, expectBetween, tokenPattern } from './contract-site.ts';
import { sentence } from './sentence.ts';

const create = ['token', 'create-service', '-o', 'acme'];
const day = 86_400_000;
let site: CommandSite;
/** Two environments of one project, and one of another. */
let place: CommandPlace;
let sibling: CommandPlace;
let elsewhere: CommandPlace;
let project: Named;

beforeAll(async () => {
  site = await CommandSite.start();
  project = await site.server.newProject();
  place = await site.newPlace({ A: '1' }, project);
  sibling = await site.newPlace({ A: '2' }, project);
  elsewhere = await site.newPlace({ A: '3' });
});
afterAll(() => site.close());

/** How `get A` ends in each of the three environments for this token. */
async function readingOf(token: string): Promise<(number | null)[]> {
  const ends = [place, sibling, elsewhere].map(async (there) => (await there.run(['get', 'A'], as(token))).code);
  return await Promise.all(ends);
}

/** The newest entries of what this token did. */
async function auditOf(id: string): Promise<AuditEntryView[]> {
  return (await site.cli.json<{ entries: AuditEntryView[] }>(['audit', '-o', 'acme', '--actor', id])).entries;
}

describe('2.4 the service token', () => {
  test(sentence('2.4.name', 'command'), async () => {
    const before = (await site.tokens()).length;
    const { code, stderr } = await site.cli.run([...create, '-s', 'organization', '-p', 'read']);
    expect(code).toBe(2);
    expect(stderr).toContain("required option '-n, --name <name>' not specified");
    expect(await site.tokens()).toHaveLength(before);
    const { id, name } = await site.newToken();
    expect([id, name]).toEqual([(await site.tokens())[0]?.id, 'ci']);
  });

  test(sentence('2.4.scope', 'command'), async () => {
    const ids = { project: ['--project-id', project.id], environment: ['--environment-id', place.server.id] };
    const made = await Promise.all([
      site.newToken('-s', 'organization', '-p', 'read'),
      site.newToken('-s', 'project', ...ids.project, '-p', 'read'),
      site.newToken('-s', 'environment', ...ids.environment, '-p', 'read'),
    ]);
    expect(made.map(({ scope }) => scope)).toEqual(['organization', 'project', 'environment']);
    const { code, stderr } = await site.cli.run([...create, '-n', 'x', '-s', 'team', '-p', 'read']);
    expect(code).toBe(2);
    expect(stderr).toContain('--scope must be one of organization, project, environment');
  });

  test(sentence('2.4.projectId', 'command'), async () => {
    const { id, projectId } = await site.newToken('-s', 'project', '--project-id', project.id, '-p', 'read');
    expect(projectId).toBe(project.id);
    expect((await site.tokens()).find((token) => token.id === id)).toMatchObject({ projectId: project.id });
    const missing = await site.cli.run([...create, '-n', 'x', '-s', 'project', '-p', 'read']);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('--project-id');
  });

  test(sentence('2.4.permission', 'command'), async () => {
    const made = await Promise.all(
      ['read', 'read_write'].map((name) => site.newToken('-s', 'organization', '-p', name)),
    );
    expect(made.map(({ permission }) => permission)).toEqual(['read', 'read_write']);
    const { code, stderr } = await site.cli.run([...create, '-n', 'x', '-s', 'organization', '-p', 'write']);
    expect(code).toBe(2);
    expect(stderr).toContain('--permission must be one of read, read_write');
  });

  test(sentence('2.4.expiration', 'command'), async () => {
    const line = ['-s', 'organization', '-p', 'read'];
    const from = Date.now();
    const [ending, endless] = await Promise.all([site.newToken(...line, '--expires-in', '30'), site.newToken(...line)]);
    expectBetween(ending.expiresAt ?? '', [from + 30 * day, Date.now() + 30 * day]);
    expect(endless.expiresAt).toBeNull();
  });

  test(sentence('2.4.token', 'command'), async () => {
    const { stdout, stderr } = await site.cli.run([...create, '-n', 'ci', '-s', 'organization', '-p', 'read']);
    const token = /^Token: +(\S+)$/m.exec(stdout)?.[1] ?? '';
    expect(token).toMatch(tokenPattern);
    expect(stderr).toContain('The token is shown only once.');
    expect(await site.cli.output(['token', 'list-service', '-o', 'acme', '--output', 'json'])).not.toContain('kf_svc_');
    expect((await place.run(['get', 'A'], as(token))).code).toBe(0);
  });

  test(sentence('2.4.id', 'command'), async () => {
    const { id, token } = await site.newToken();
    expect(id).toEqual(anyId);
    await site.cli.output(['token', 'revoke-service', '--yes', '-o', 'acme', '--id', id]);
    expect((await place.run(['get', 'A'], as(token))).code).toBe(3);
  });

  test(sentence('2.4.read', 'command'), async () => {
    const { token } = await site.newToken('-s', 'organization', '-p', 'read');
    const own = await site.newPlace({ A: '1' });
    expect(JSON.parse(await own.output(['pull', '--format', 'json'], as(token)))).toEqual({ A: '1' });
    for (const line of [
      ['set', 'A=2'],
      ['unset', 'A', '--yes'],
      ['push', '-', '--yes'],
    ]) {
      expect([line, (await own.run(line, { ...as(token), input: 'B=1\n' })).code]).toEqual([line, 4]);
    }
    expect(await own.secrets()).toEqual({ A: ['1', 1] });
  });

  test(sentence('2.4.read_write', 'command'), async () => {
    const { token } = await site.newToken('-s', 'organization', '-p', 'read_write');
    const own = await site.newPlace({ A: '1', OLD: 'x' });
    expect(await own.output(['get', 'A'], as(token))).toBe('1');
    await own.output(['set', 'A=2'], as(token));
    await own.output(['unset', 'OLD', '--yes'], as(token));
    expect(await own.secrets()).toEqual({ A: ['2', 2] });
  });

  test(sentence('2.4.organization', 'command'), async () => {
    expect(await readingOf((await site.newToken('-s', 'organization', '-p', 'read')).token)).toEqual([0, 0, 0]);
  });

  test(sentence('2.4.project', 'command'), async () => {
    const { token } = await site.newToken('-s', 'project', '--project-id', project.id, '-p', 'read');
    expect(await readingOf(token)).toEqual([0, 0, 5]);
  });

  test(sentence('2.4.environment', 'command'), async () => {
    const { token } = await site.newToken('-s', 'environment', '--environment-id', place.server.id, '-p', 'read');
    expect(await readingOf(token)).toEqual([0, 5, 5]);
  });
});

describe('3.7, 4.4, 4.8 and 7.1 making, listing and revoking', () => {
  test(sentence('3.7', 'command'), async () => {
    const { id, token } = await site.newToken();
    expect(await readingOf(token)).toEqual([0, 0, 0]);
    await site.cli.output(['token', 'revoke-service', '--yes', '-o', 'acme', '--id', id]);
    expect(await readingOf(token)).toEqual([3, 3, 3]);
  });

  test(sentence('4.4.2', 'command'), async () => {
    const { id, token } = await site.newToken();
    const list = await site.cli.output(['token', 'list-service', '-o', 'acme', '--output', 'json']);
    expect(list).toContain(id);
    expect(list).not.toContain(token);
    expect(await site.cli.output(['token', 'list-service', '-o', 'acme'])).not.toContain('kf_svc_');
  });

  test(sentence('4.8', 'command'), async () => {
    const first = await site.newToken('-s', 'project', '--project-id', project.id, '-p', 'read', '--expires-in', '1');
    const second = await site.newToken();
    await site.cli.output(['token', 'revoke-service', '--yes', '-o', 'acme', '--id', first.id]);
    const list = await site.cli.json<ServiceTokenListView>(['token', 'list-service', '-o', 'acme']);
    expect(list.serviceTokens.map(({ id }) => id)).toEqual((await site.tokens()).map(({ id }) => id));
    expect(list.nextCursor).toBeNull();
    const { token: _one, ...firstRecord } = first;
    const { token: _other, ...secondRecord } = second;
    expect(list.serviceTokens.slice(0, 2)).toEqual([secondRecord, { ...firstRecord, revokedAt: anyTime }]);
  });

  test(sentence('7.1', 'command'), async () => {
    const { id, token } = await site.newToken();
    expect((await place.run(['pull'], as(token))).code).toBe(0);
    await site.cli.output(['token', 'revoke-service', '--yes', '-o', 'acme', '--id', id]);
    const { code, stdout, stderr } = await place.run(['pull'], as(token));
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('revoked');
    expect(stderr).not.toContain(token);
    const pipeline = ['run', ...place.scope, '--', 'echo', 'deployed'];
    expect(await site.cli.run(pipeline, as(token))).toMatchObject({ code: 3, stdout: '' });
  });
});

describe('5 authentication', () => {
  test(sentence('5.3', 'command'), async () => {
    const admin = await site.server.newMember('admin');
    const line = [...create, '-n', 'ci', '-s', 'organization', '-p', 'read'];
    const { token, createdBy } = await site.cli.json<{ token: string; createdBy: string }>(line, as(admin.token));
    expect(createdBy).toBe(admin.id);
    await site.cli.output(['member', 'remove', admin.email, '-o', 'acme', '--yes']);
    await site.cli.output(['user', 'disable', admin.email, '--yes']);
    expect((await place.run(['get', 'A'], as(admin.token))).code).toBe(3);
    expect(await place.output(['get', 'A'], as(token))).toBe('1');
  });

  test(sentence('5.4', 'command'), async () => {
    const { token } = await site.newToken('-s', 'project', '--project-id', project.id, '-p', 'read');
    const set = async (there: CommandPlace): Promise<number | null> =>
      (await there.run(['set', 'A=9'], as(token))).code;
    expect(await Promise.all([place, sibling, elsewhere].map(set))).toEqual([4, 4, 5]);
    expect(await readingOf(token)).toEqual([0, 0, 5]);
    expect(await place.server.values()).toEqual({ A: '1' });
  });

  test(sentence('5.5', 'command'), async () => {
    const { id, token } = await site.newToken();
    expect(token).toMatch(tokenPattern);
    expect(await site.cli.output(['token', 'list-service', '-o', 'acme', '--output', 'yaml'])).not.toContain(token);
    const { code, stdout, stderr } = await site.cli.run(['token', 'revoke-service', '--yes', '-o', 'acme', '--id', id]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: `Service token ${id} is revoked.\n` });
    expect((await place.run(['get', 'A'], as(token))).code).toBe(3);
  });

  test(sentence('5.6', 'command'), async () => {
    const { id, token } = await site.newToken();
    await place.output(['get', 'A'], as(token));
    await place.output(['get', 'A']);
    const apart = await site.cli.output(['audit', '-o', 'acme', '--actor-type', 'service_token', '--limit', '1']);
    expect(apart).toMatch(/\[Service Token\]/);
    expect(await auditOf(id)).toMatchObject([{ action: 'secret.read', label: '[Service Token]' }]);
    const people = ['audit', '-o', 'acme', '--actor-type', 'user', '--action', 'secret.read', '--limit', '1'];
    expect(await site.cli.json(people)).toMatchObject({ entries: [{ action: 'secret.read', label: null }] });
  });

  test(sentence('5.7', 'command'), async () => {
    const member = await site.server.newMember('viewer');
    const made = await site.cli.json<{ token: string }>(['token', 'create', '-n', 'laptop'], as(member.token));
    expect(made.token).toMatch(/^kf_pat_[0-9A-Za-z]{71}$/);
    expect(await site.cli.json(['whoami'], as(made.token))).toMatchObject({ type: 'user', id: member.id });
    const machine = await site.newToken();
    expect((await site.cli.run(['token', 'create', '-n', 'x'], as(machine.token))).code).toBe(4);
  });

  test(sentence('5.8', 'command'), async () => {
    const own = await site.newPlace({ A: '1' });
    await own.server.set({ A: '2' });
    const snapshotId = await own.snapshot();
    const [reader, writer] = await Promise.all([
      site.newToken('-s', 'organization', '-p', 'read'),
      site.newToken('-s', 'organization', '-p', 'read_write'),
    ]);
    const { code } = await site.cli.run(['snapshot', 'restore', snapshotId, '--yes'], as(reader.token));
    expect(code).toBe(4);
    for (const line of [
      ['snapshot', 'create'],
      ['rollback', 'A', '--version', '1'],
    ]) {
      expect([line, (await own.run(line, as(reader.token))).code]).toEqual([line, 4]);
    }
    expect(await own.secrets()).toEqual({ A: ['2', 2] });
    for (const line of [['pull'], ['versions', 'A'], ['snapshot', 'list']]) await own.output(line, as(reader.token));
    await own.output(['snapshot', 'create'], as(writer.token));
    await own.output(['rollback', 'A', '--version', '1'], as(writer.token));
    await own.restore(snapshotId, as(writer.token));
    expect(await own.secrets()).toEqual({ A: ['2', 4] });
  });
});

describe('6.2 the audit', () => {
  test(sentence('6.2.3', 'command'), async () => {
    const { id, token } = await site.newToken();
    await place.output(['list'], as(token));
    expect((await site.cli.run(['org', 'rename', 'acme', '-n', 'Mine'], as(token))).code).toBe(4);
    await site.cli.output(['token', 'revoke-service', '--yes', '-o', 'acme', '--id', id]);
    expect((await place.run(['list'], as(token))).code).toBe(3);
    expect((await auditOf(id)).map(({ action, outcome, label }) => [action, outcome, label])).toEqual([
      ['authenticate', 'denied', '[Service Token]'],
      ['organization.update', 'denied', '[Service Token]'],
      ['secret.list', 'success', '[Service Token]'],
    ]);
    const about = await site.cli.json<{ entries: AuditEntryView[] }>([
      'audit',
      '-o',
      'acme',
      '--action',
      'service_token.',
    ]);
    expect(about.entries.slice(0, 2).map(({ action, label }) => [action, label])).toEqual([
      ['service_token.revoke', '[Service Token]'],
      ['service_token.create', '[Service Token]'],
    ]);
  });
});

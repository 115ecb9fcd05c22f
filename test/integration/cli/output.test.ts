import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { commandShapes } from '../../../src/cli/output/command-shapes.ts';
import { type ShapeName, shapes } from '../../../src/cli/output/shapes.ts';
import type { RevisionIds } from '../../../src/store/revisions.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';
import type { World } from '../../support/api/services.ts';
import { rolloutReport, stateReport } from '../../support/api/state-reports.ts';
import { insertIssuer } from '../../support/api/trusted-issuers.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { TestSyncReader } from '../../support/api/sync-reader.ts';

const printed = new Set<string>();
let api: TestApi;
let world: World;
let cli: CliRunner;
let reader: string;

withCommandWorld(async (given) => {
  ({ api, world, cli } = given);
  api.services.feed.start();
  await waitFor('the feed to hear', () => api.services.feed.ready);
  const { organization, project, environment } = world.slugs;
  await cli.output(['init', '-o', organization, '-p', project, '-e', environment]);
  reader = (await new TestSyncReader(api.services, world, { namespace: 'team-a' }).enter()).tokenId;
});

/** Throws for an object that the committed schema refuses, or that has fields which the shape does not name. */
function requireShape(name: ShapeName, value: unknown): void {
  const file = join(checkoutDirectory, 'docs', 'cli-output', `${name}.json`);
  const committed = z.fromJSONSchema(JSON.parse(readFileSync(file, 'utf8')) as Parameters<typeof z.fromJSONSchema>[0]);
  committed.parse(value);
  (shapes[name] as z.ZodType).parse(value);
}

interface RunOptions {
  readonly shape?: ShapeName;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly ends?: number;
}

/** Runs a command with --output json as the words say, and checks what it prints. */
async function prints<Output = Record<string, unknown>>(
  command: string,
  args: readonly string[] = [],
  { shape = commandShapes[command]?.[0], ends = 0, ...options }: RunOptions = {},
): Promise<Output> {
  const { code, stdout, stderr } = await cli.run([...command.split(' '), ...args, '--output', 'json'], options);
  if (code !== ends) throw new Error(`keyframe ${command} ended with ${code}: ${stderr}`);
  for (const line of stderr.split('\n').filter((one) => one !== '')) requireShape('warning', JSON.parse(line));
  if (shape === undefined) throw new Error(`${command} has no shape`);
  const value = JSON.parse(stdout) as Output;
  requireShape(shape, value);
  printed.add(`${command}: ${shape}`);
  return value;
}

interface Token {
  readonly id: string;
  readonly token: string;
}

describe('--output json', () => {
  test('of secrets', async () => {
    const input = 'A=1\nC=a#b\n';
    const first = await prints('set', ['A=1', 'B=2', '--yes']);
    expect(first).toMatchObject({ set: [{ key: 'A' }, { key: 'B' }], deleted: [], unchanged: [] });
    const plan = { added: ['C'], changed: [], removed: [], unchanged: ['A'], kept: ['B'], warnings: [{ key: 'C' }] };
    const dry = await prints('push', ['-', '--dry-run'], { input });
    expect(dry).toMatchObject({ ...plan, dryRun: true, set: [], deleted: [], revision: 1 });
    const done = await prints('push', ['-', '--yes'], { input });
    expect(done).toMatchObject({ ...plan, dryRun: false, set: [{ key: 'C', version: 1 }], revision: 2 });
    const same = await prints('push', ['-', '--yes'], { input });
    expect(same).toMatchObject({ added: [], unchanged: ['A', 'C'], set: [], revision: 2 });
    expect(await prints('list')).toMatchObject({ secrets: [{ key: 'A' }, { key: 'B' }, { key: 'C' }] });
    await Promise.all([prints('list', ['--reveal']), prints('pull'), prints('get', ['A'])]);
    const both = await prints('get', ['C', 'A'], { shape: 'secret-list' });
    expect(both).toMatchObject({ secrets: [{ key: 'C' }, { key: 'A' }], revision: 2 });
    expect(both).toMatchObject({ secrets: [{ value: 'a#b' }, { value: '1' }] });
    const past = await prints('get', ['A', '--version', '1'], { shape: 'past-secret' });
    expect(past).toMatchObject({ key: 'A', value: '1', version: 1, changeType: 'created' });
    expect(await prints('versions', ['A', '--version', '1'], { shape: 'past-secret' })).toEqual(past);
    const difference = { added: [], changed: [], removed: ['B'], unchanged: ['A', 'C'] };
    expect(await prints('diff', ['-'], { input })).toEqual(difference);
    expect(await prints('diff', ['-', '--reveal'], { input })).toMatchObject({ values: [{ key: 'B', from: '2' }] });
    expect(await prints('rotate', ['A'])).toMatchObject({ set: [{ key: 'A', version: 2 }] });
    await prints('versions', ['A']);
    expect(await prints('rollback', ['A', '--version', '1', '--yes'])).toMatchObject({ key: 'A', version: 3 });
    expect(await prints('undo', ['--dry-run'])).toMatchObject({ restored: ['A'], conflicts: [] });
    await prints('set', ['A=3']);
    const edited = { added: ['D'], changed: [], removed: [], unchanged: ['A', 'B', 'C'], kept: [], dryRun: false };
    const env = { EDITOR: `sh -c 'echo D=4 >> "$0"'` };
    expect(await prints('edit', ['--yes'], { env })).toMatchObject({ ...edited, set: [{ key: 'D', version: 1 }] });
    await prints('unset', ['D', '--yes']);
    expect(await prints('destroy', ['A', '--version', '2', '--yes'])).toMatchObject({ key: 'A', version: 2 });
    expect(await prints('unset', ['B', '--yes'])).toMatchObject({ set: [], deleted: ['B'] });
    await prints('list', ['--deleted'], { shape: 'deleted-secret-list' });
    await prints('history');
    const watched = await prints('watch', ['--since', '2', '--once']);
    expect(watched).toMatchObject({ revision: 3, keys: [{ key: 'A', version: 2, action: 'changed' }] });
    expect(await prints('wait', ['--revision', '3'])).toMatchObject({ revision: expect.any(Number) });
    const { syncStates } = api.services;
    const ids = await prints<RevisionIds>('wait', ['--revision', '3']);
    const state = { environmentId: world.environment.id, wanted: ids, synced: ids };
    const rollout = rolloutReport({ converged: ids });
    await syncStates.report('prod', [stateReport({ ...state, rollout }), stateReport({ ...state, isPinned: true })]);
    expect(await prints('wait', ['--revision', '3', '--converged'])).toMatchObject({ consumers: { reached: 1 } });
    expect(await prints('consumers')).toMatchObject({ consumers: [{ name: 'app' }, { name: 'app' }] });
    await prints('audit');
  });

  test('of the same commands with their other options', async () => {
    await prints('audit', ['--instance', '--limit', '1']);
    await prints('history', ['--since', '1']);
    await prints('list', ['--revision', '1']);
    await prints('list', ['--revision', '1', '--reveal', '--prefix', 'B']);
    await prints('pull', ['--revision', '1']);
    await prints('get', ['B', '--revision', '1']);
    await prints('versions', ['B', '--limit', '1']);
    expect(await prints('set', ['A=3'])).toMatchObject({ set: [], unchanged: ['A'] });
    expect(await prints('rotate', ['NEW', '--create'])).toMatchObject({ set: [{ key: 'NEW', version: 1 }] });
    expect(await prints('unset', ['--prefix', 'NEW', '--yes'])).toMatchObject({ deleted: ['NEW'] });
    expect(await prints('diff', ['--revision', '1'])).toMatchObject({ removed: ['B'] });
    const created = await prints<Token>('token create-service', ['-n', 'me', '-s', 'organization', '-p', 'read']);
    const env = { KEYFRAME_TOKEN: created.token };
    expect(await prints('whoami', [], { env })).toMatchObject({ type: 'service_token', name: 'me' });
  });

  test('of snapshots', async () => {
    const { id } = await prints<Token>('snapshot create', ['-n', 'first']);
    await prints('snapshot list');
    await prints('snapshot show', [id]);
    await prints('set', ['A=changed']);
    expect(await prints('snapshot diff', [id])).toMatchObject({ changed: [{ key: 'A' }], unchangedCount: 1 });
    await prints('snapshot restore', [id, '--dry-run']);
    await prints('snapshot restore', [id, '--yes']);
    await prints('snapshot prune', ['--keep-last', '1', '--dry-run']);
    await prints('snapshot prune', ['--keep-last', '1', '--yes']);
    const second = await prints<Token>('snapshot create', ['-n', 'second']);
    const deleted = { kind: 'snapshot', action: 'deleted', id: second.id, name: 'second' };
    expect(await prints('snapshot delete', [second.id, '--yes'])).toEqual(deleted);
  });

  test('of tokens', async () => {
    const { id } = await prints<Token>('token create-service', ['-n', 'ci', '-s', 'organization', '-p', 'read']);
    await Promise.all([prints('token list-service'), prints('token show-service', ['ci'])]);
    await prints('token rotate-service', ['--id', id, '--overlap', '0', '--yes']);
    const revoked = { kind: 'service_token', action: 'revoked', id };
    expect(await prints('token revoke-service', ['--id', id, '--yes'])).toMatchObject(revoked);
    await prints('token revoke-service', ['--id', reader, '--yes']);
    expect(await prints('token reinstate', ['--id', reader])).toMatchObject({ id: reader, revokedAt: null });
    const issuer = await insertIssuer(api.services.database);
    const jobs = ['-n', 'x', '-s', 'organization', '-p', 'read', '--issuer', issuer.name, '--claim', 'sub=ci'];
    const federated = await prints<Token>('token create-service', jobs, { shape: 'new-federated-token' });
    expect(await prints('token accept-issuer', [federated.id])).toMatchObject({ federation: { isAccepted: true } });
    const explained = await prints('token explain', [federated.id], { input: 'a.b', ends: 3 });
    expect(explained).toMatchObject({ isProven: false });
    const personal = await prints<Token>('token create', ['-n', 'laptop']);
    await prints('token list');
    expect(await prints('token revoke', [personal.id, '--yes'])).toMatchObject({ kind: 'personal_token' });
  });

  test('of sessions', async () => {
    const access = await api.services.access.person(world.owner.caller, 'session.create');
    const { session } = await api.services.sessions.create(access);
    expect(await prints('session list')).toMatchObject({ sessions: [{ id: session.id, current: false }] });
    const ended = { kind: 'session', action: 'ended' };
    expect(await prints('session end', [session.id])).toEqual({ ...ended, id: session.id, name: null });
    expect(await prints('session end', ['--all'])).toEqual({ ...ended, id: null, name: null });
  });

  test('of passkeys and linked accounts', async () => {
    const prisma = prismaOf(api.services.database);
    const id = randomUUID();
    const key = {
      credentialId: Buffer.from(id),
      publicKey: Buffer.from('x'),
      counter: 0,
      backedUp: false,
      delegators: [],
    };
    const userId = world.owner.id;
    const unusableSince = new Date();
    await prisma.passkey.create({ data: { id, userId, rpId: 'localhost', name: 'Laptop', unusableSince, ...key } });
    expect(await prints('passkey list')).toMatchObject({ passkeys: [{ id, name: 'Laptop' }] });
    expect(await prints('passkey confirm', ['Laptop', '--yes'])).toMatchObject({ id, unusableSince: null });
    const removed = { action: 'removed', id };
    expect(await prints('passkey remove', [id, '--yes'])).toEqual({ kind: 'passkey', name: 'Laptop', ...removed });
    await prisma.identity.create({ data: { id, userId, issuer: 'https://id.example', subject: 'x', delegators: [] } });
    expect(await prints('identity list')).toMatchObject({ identities: [{ id, subject: 'x' }] });
    expect(await prints('identity remove', [id, '--yes'])).toEqual({ kind: 'identity', name: null, ...removed });
  });

  test('of copies', async () => {
    await prints('env create', ['staging']);
    await prints('set', ['COPIED=1', '-e', 'staging']);
    const planned = await prints<{ planHash: string }>('promote', ['--from', 'staging', '--plan']);
    expect(planned).toMatchObject({ created: ['COPIED'] });
    const { planHash } = planned;
    const args = ['--from', 'staging', '--plan-hash', planHash];
    expect(await prints('promote', args)).toMatchObject({ created: ['COPIED'] });
  });

  test('of people', async () => {
    const email = 'new@example.com';
    expect(await prints('user create', [email])).toMatchObject({ email });
    await prints('user list');
    await prints('user disable', [email, '--yes']);
    expect(await prints('user set-email', [email, 'renamed@example.com'])).toMatchObject({
      email: 'renamed@example.com',
    });
    await prints('user set-email', ['renamed@example.com', email]);
    await prints('user enable', [email]);
    expect(await prints('user close-sign-in')).toMatchObject({ open: false });
    expect(await prints('user open-sign-in')).toMatchObject({ open: true });
    expect(await prints('user grant-admin', [email, '--yes'])).toMatchObject({ instanceAdmin: true });
    expect(await prints('user revoke-admin', [email, '--yes'])).toMatchObject({ instanceAdmin: false });
    await prints('user token', [email, '-n', 'recovery']);
    expect(await prints('user sign-in-link', [email])).toMatchObject({
      link: expect.stringContaining('/link#kf_lnk_'),
    });
    const { organization } = world.slugs;
    const { token } = await prints<{ token: string }>('user token', [email, '-n', 'accepts']);
    const asUser = { env: { KEYFRAME_TOKEN: token } };
    const invited = { user: { email }, role: 'viewer' };
    const shape = 'invitation';
    const byPlace = [email, '--role', 'viewer', '-e', world.slugs.environment];
    expect(await prints('role set', byPlace, { shape })).toMatchObject(invited);
    const withdrawn = { kind: 'invitation', action: 'withdrawn', name: email };
    expect(await prints('invitation withdraw', [email, '--yes'])).toMatchObject(withdrawn);
    expect(await prints('member set', [email, '--role', 'viewer'], { shape })).toMatchObject(invited);
    expect(await prints('invitation list', ['-o', organization])).toMatchObject({ invitations: [invited] });
    const address = 'grace@example.com';
    const created = await prints('invitation create', [address, '--role', 'viewer']);
    expect(created).toMatchObject({ link: expect.any(String), invitation: { user: { id: null, email: address } } });
    await prints('invitation withdraw', [address, '--yes']);
    const declined = { kind: 'invitation', action: 'declined', name: organization };
    expect(await prints('invitation decline', ['-o', organization, '--yes'], asUser)).toMatchObject(declined);
    await prints('member set', [email, '--role', 'viewer'], { shape });
    const accepted = await prints('invitation accept', ['-o', organization, '--yes'], asUser);
    expect(accepted).toMatchObject({ invitations: [invited] });
    expect(await prints('member set', [email, '--role', 'viewer'])).toMatchObject({ email });
    await prints('member list');
    const place = ['-e', world.slugs.environment];
    expect(await prints('role set', [email, '--role', 'viewer', ...place])).toMatchObject({ role: 'viewer' });
    await prints('role set', ['group:platform', '--role', 'admin', '-o', world.slugs.organization]);
    expect(await prints('role list')).toMatchObject({ roles: [{ group: 'platform' }, { user: { email } }] });
    expect(await prints('role remove', [email, '--yes', ...place])).toMatchObject({ kind: 'role', action: 'removed' });
    expect(await prints('member remove', [email, '--yes'])).toMatchObject({ kind: 'member', action: 'removed' });
    const { id } = await prints<Token>('org create', ['ownerless']);
    await prismaOf(api.services.database).membership.deleteMany({ where: { organizationId: id } });
    await prints('member appoint-owner', [email, '-o', 'ownerless', '--yes']);
  });

  test('of trusted issuers', async () => {
    await prints('issuer set', ['github', '--preset', 'github']);
    for (const command of ['issuer set', 'issuer show', 'issuer delete']) await prints(command, ['github', '--yes']);
    // The one of a federated token.
    expect(await prints('issuer list')).toMatchObject({ trustedIssuers: [{ preset: 'none' }] });
    await prints('issuer list', ['--all'], { shape: 'trusted-issuer-list' });
  });

  test('of clusters', async () => {
    await prismaOf(api.services.database).servedCluster.create({ data: { name: 'fra-1' } });
    const place = ['-p', world.slugs.project, '-e', world.slugs.environment];
    const rule = { project: world.slugs.project, environments: [world.slugs.environment], kinds: ['SecretSync'] };
    expect(await prints('cluster allow', ['fra-1', ...place, '--yes'])).toMatchObject({ rules: [rule], version: 1 });
    // A rule that is there already.
    expect(await prints('cluster allow', ['fra-1', ...place])).toMatchObject({ rules: [rule], version: 1 });
    expect(await prints('cluster show', ['fra-1'])).toMatchObject({ name: 'fra-1', isHome: true, rules: [rule] });
    expect(await prints('cluster rules', ['fra-1'])).toMatchObject({ rules: [rule] });
    expect(await prints('cluster list')).toMatchObject({ clusters: expect.arrayContaining([expect.anything()]) });
    await prints('cluster list', ['--all'], { shape: 'cluster-list' });
    expect(await prints('cluster show', ['fra-1', '--all'], { shape: 'cluster' })).toMatchObject({ name: 'fra-1' });
    expect(await prints('cluster deny', ['fra-1', ...place, '--yes'])).toMatchObject({ rules: [], version: 2 });
    expect(await prints('cluster rules', ['fra-1', '--remove', '--yes'])).toMatchObject({ rules: null, version: 3 });
    await prints('cluster create', ['fra-2', '--issuer', 'https://k8s', '--jwks-url', 'https://keys.example/jwks']);
    await prints('cluster update', ['fra-2', '--uid', 'one', '--yes']);
    expect(await prints('cluster disable', ['fra-1', '--yes'])).toMatchObject({ state: 'disabled' });
    expect(await prints('cluster enable', ['fra-1'])).toMatchObject({ state: 'enabled' });
    expect(await prints('cluster forget', ['fra-1', '--plan'])).toMatchObject({ tokenCount: 0 });
    expect(await prints('cluster forget', ['fra-1', '--yes'])).toMatchObject({ secretCount: 0 });
  });

  test('of organizations, projects and environments', async () => {
    for (const [kind, place] of [
      ['org', []],
      ['project', ['-o', 'other']],
      ['env', ['-o', 'other', '-p', 'other']],
    ] as const) {
      await prints(`${kind} create`, ['other', ...place]);
      await prints(`${kind} list`, place);
      await prints(`${kind} show`, ['other', ...place]);
      await prints(`${kind} rename`, ['other', ...place, '-n', 'Other']);
    }
    await prints('org forbid-impersonation', [world.slugs.organization]);
    await prints('org allow-impersonation', [world.slugs.organization]);
    await prints('env protect', ['other', '-o', 'other', '-p', 'other', '--plan']);
    expect(await prints('env protect', ['other', '-o', 'other', '-p', 'other'])).toMatchObject({ protected: true });
    expect(await prints('env unprotect', ['other', '-o', 'other', '-p', 'other'])).toMatchObject({ protected: false });
    const deleted = { action: 'deleted', name: 'other' };
    const gone = { action: 'purged', name: 'other', id: null };
    for (const [name, kind, place] of [
      ['env', 'environment', ['-o', 'other', '-p', 'other']],
      ['project', 'project', ['-o', 'other']],
      ['org', 'organization', []],
    ] as const) {
      expect(await prints(`${name} delete`, ['other', ...place, '--yes'])).toMatchObject({ ...deleted, kind });
      const list = await prints(`${name} list`, [...place, '--deleted']);
      expect(list[`${kind}s`]).toMatchObject([{ slug: 'other', deletedAt: expect.any(String) }]);
      expect(await prints(`${name} undelete`, ['other', ...place])).toMatchObject({ slug: 'other' });
      await prints(`${name} delete`, ['other', ...place, '--yes']);
      expect(await prints(`${name} purge`, ['other', ...place, '--yes'])).toMatchObject({ ...gone, kind });
    }
  });

  test('of what is stored on this machine', async () => {
    const token = world.owner.token.reveal();
    await prints('login', ['--token', '-'], { input: token });
    await prints('login', ['--list'], { shape: 'sign-in-list' });
    await prints('whoami');
    expect(await prints('status')).toMatchObject({ server: { isReady: true }, problems: [] });
    await prints('version');
    expect(await prints('token set', ['-'], { input: token })).toMatchObject({ isTokenStored: true });
    expect(await prints('logout')).toMatchObject({ isTokenStored: false });
    await prints('logout');
    expect(await prints('trust', ['--withdraw'])).toMatchObject({ isTrusted: false });
    expect(await prints('trust')).toMatchObject({ isTrusted: true });
    const { organization, project, environment } = world.slugs;
    await prints('init', ['-o', organization, '-p', project, '-e', environment]);
  });

  // A new command is run with `prints` in one of the tests above.
  test('was checked for each shape in command-shapes.ts', () => {
    const all = Object.entries(commandShapes).flatMap(([command, names]) => names.map((name) => `${command}: ${name}`));
    expect([...printed].toSorted()).toEqual(all.toSorted());
  });
});

describe('an error with --output json', () => {
  /** The one line on standard error. */
  async function problem(args: readonly string[], env: Record<string, string> = {}): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await cli.run([...args, '--output', 'json'], { env });
    expect(stdout).toBe('');
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    const value = JSON.parse(stderr) as Record<string, unknown>;
    requireShape('problem', value);
    expect(value['exitCode']).toBe(code);
    return value;
  }

  test('of the server is its problem document with the exit code and the next steps', async () => {
    const found = await problem(['get', 'NOTHING']);
    expect(found).toMatchObject({ type: 'urn:keyframe:error:not_found', status: 404, code: 'not_found', exitCode: 5 });
    expect(found['instance']).toMatch(/^urn:uuid:/);
  });

  test.each([
    { args: ['get'], code: 'usage', exitCode: 2 },
    { args: ['lists'], code: 'usage', exitCode: 2 },
    { args: ['get', 'A', '--version', 'x'], code: 'usage', exitCode: 2 },
    { args: ['unset', 'A'], code: 'not_confirmed', exitCode: 7 },
    { args: ['list', '--url', 'http://127.0.0.1:1'], code: 'unreachable', exitCode: 1 },
  ])('of the command itself has its own type: $code for $args', async ({ args, code, exitCode }) => {
    expect(await problem(args)).toMatchObject({ type: `urn:keyframe:cli:${code}`, code, exitCode });
  });

  test('belongs to the program of run, not to the command, behind the name of the program', async () => {
    const { code, stderr } = await cli.run(['run', 'nothing-of-this-name', '--output', 'json']);
    expect({ code, stderr }).toMatchObject({ code: 127, stderr: expect.stringMatching(/^error: /) });
  });
});

describe('--output name', () => {
  test('prints the word by which commands take the result, one per line', async () => {
    const named = async (args: readonly string[], input = ''): Promise<string[]> =>
      (await cli.output([...args, '--output', 'name'], { input })).trimEnd().split('\n');
    expect(await named(['set', 'N1=1', 'N2=2', '--yes'])).toEqual(['N1', 'N2']);
    expect(await named(['push', '-', '--dry-run'], 'N1=2\nN3=3\n')).toEqual(['N1', 'N3']);
    expect(await named(['push', '-', '--yes'], 'N1=2\nN3=3\n')).toEqual(['N1', 'N3']);
    expect(await named(['diff', '-'], 'N1=3\n')).toContain('N2');
    expect(await named(['rollback', 'N1', '--version', '1', '--yes'])).toEqual(['N1']);
    const [id = ''] = await named(['snapshot', 'create']);
    expect(await named(['snapshot', 'list'])).toContain(id);
    await named(['set', 'N1=9']);
    expect(await named(['snapshot', 'restore', id, '--yes'])).toEqual(['N1']);
    expect(await named(['unset', 'N2', '--yes'])).toEqual(['N2']);
    expect(await named(['snapshot', 'delete', id, '--yes'])).toEqual([id]);
    expect(await named(['org', 'create', 'named'])).toEqual(['named']);
    expect(await named(['org', 'delete', 'named', '--yes'])).toEqual(['named']);
  });
});

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { commandTable } from '../../../src/cli/command-table.ts';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';
import { createUser, createWorld, enrol, type World } from '../../support/api/services.ts';
import { changeIssuer, insertIssuer } from '../../support/api/trusted-issuers.ts';
import { prismaOf } from '../../support/database/prisma.ts';

/**
 * The one rule of consent: a command asks if it changes several secrets or does what cannot be undone, and without a
 * terminal it refuses unless --yes is given. A new command must be entered in one of the two lists.
 */

/** What can be undone by another command, or changes nothing on the server. */
const neverAsks = [
  'list get pull run diff versions history watch wait consumers audit whoami status completion help version',
  // One secret, whose former value stays in the history.
  'rotate rollback',
  // On this machine alone.
  'login logout init trust',
]
  .flatMap((names) => names.split(' '))
  .concat(
    ['create', 'list', 'show', 'diff'].map((verb) => `snapshot ${verb}`),
    'set create-service list-service show-service create list reinstate explain'
      .split(' ')
      .map((verb) => `token ${verb}`),
    // Signing in again undoes the end of a session.
    [
      'session list',
      'session end',
      'passkey list',
      'identity list',
      'member list',
      'role list',
      'invitation list',
      // The next one ends it, and `invitation withdraw`.
      'invitation create',
      'cluster list',
      'cluster show',
      'cluster enable',
      // But to make a remote cluster of a home cluster.
      'cluster create',
      'issuer list',
      'issuer show',
      'user list',
      'user create',
      'user enable',
      'user set-email',
      'user token',
      'user open-sign-in',
      'user close-sign-in',
      'user sign-in-link',
    ],
    ['org', 'project', 'env'].flatMap((kind) =>
      ['list', 'create', 'show', 'rename', 'undelete'].map((verb) => `${kind} ${verb}`),
    ),
    ['org forbid-impersonation', 'org allow-impersonation', 'env protect', 'env unprotect'],
  );

let api: TestApi;
let world: World;
let cli: CliRunner;
let scope: string[];
/** Ids of what the commands act on. */
const ids = {
  snapshot: '',
  serviceToken: '',
  federatedToken: '',
  personalToken: '',
  user: '',
  email: '',
  buried: 'buried',
  inviting: '',
  identity: '',
};

withCommandWorld(async (given) => {
  ({ api, world, cli, scope } = given);
  await cli.output(['set', 'A=1', 'B=1', '--yes', ...scope]);
  await cli.output(['snapshot', 'create', '-n', 'older', ...scope]);
  ids.snapshot = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
  await cli.output(['set', 'A=2', 'B=2', '--yes', ...scope]);
  await cli.output(['env', 'create', 'staging', ...scope.slice(0, 4)]);
  await cli.output(['set', 'C=1', 'D=1', '--yes', ...scope.slice(0, 4), '-e', 'staging']);
  await prismaOf(api.services.database).servedCluster.createMany({ data: [{ name: 'home' }, { name: 'ruled' }] });
  await cli.output(['cluster', 'allow', 'ruled', '--yes', ...scope]);
  const keys = ['--issuer', 'https://kubernetes.default.svc', '--jwks-url', 'https://keys.example/jwks'];
  await cli.output(['cluster', 'create', 'far-away', ...keys, '--uid', 'one']);
  await cli.output(['issuer', 'set', 'github', '--preset', 'github']);
  const service = await world.serviceToken();
  ids.serviceToken = service.id;
  ids.federatedToken = await changedFederatedToken();
  ids.personalToken = (await cli.output(['token', 'create', '-n', 'spare', '--output', 'name'])).trim();
  const person = await createUser(api.services);
  ids.user = person.id;
  ids.email = person.email;
  for (const line of [['org'], ['project', ...organization()], ['env', ...scope.slice(0, 4)]]) {
    const [kind = '', ...place] = line;
    await cli.output([kind, 'create', ids.buried, ...place]);
    await cli.output([kind, 'delete', ids.buried, ...place, '--yes']);
  }
  await enrol(api.services, world.owner, person, { organization: world.slugs.organization, role: 'viewer' });
  await cli.output(['member', 'set', world.stranger.email, '-o', world.slugs.organization, '--role', 'viewer']);
  const host = await createWorld(api.services);
  ids.inviting = host.slugs.organization;
  const access = await host.onOrganization(host.owner.caller, 'member.set');
  await api.services.members.set(access, { id: world.owner.id }, { role: 'viewer' });
  await makeWaysToSignIn(world.owner.id);
});

/** A passkey that waits for its confirmation, and a linked account. */
async function makeWaysToSignIn(userId: string): Promise<void> {
  const prisma = prismaOf(api.services.database);
  ids.identity = randomUUID();
  await prisma.identity.create({
    data: { id: ids.identity, userId, issuer: 'https://id.example', subject: 'x', delegators: [] },
  });
  const key = { credentialId: Buffer.from('x'), publicKey: Buffer.from('x'), counter: 0, backedUp: false };
  const about = { rpId: 'localhost', name: 'Laptop', unusableSince: new Date(), delegators: [] };
  await prisma.passkey.create({ data: { id: randomUUID(), userId, ...about, ...key } });
}

const organization = (): string[] => ['-o', world.slugs.organization];

/** A command line of each command that asks. */
const asks: Readonly<Record<string, () => string[]>> = {
  set: () => ['set', 'A=3', 'B=3', ...scope],
  unset: () => ['unset', 'A', ...scope],
  push: () => ['push', '-', ...scope],
  edit: () => ['edit', ...scope],
  undo: () => ['undo', ...scope],
  destroy: () => ['destroy', 'A', '--version', '1', ...scope],
  promote: () => ['promote', '--from', 'staging', ...scope],
  'snapshot restore': () => ['snapshot', 'restore', ids.snapshot],
  'snapshot delete': () => ['snapshot', 'delete', ids.snapshot],
  'snapshot prune': () => ['snapshot', 'prune', '--keep-last', '1', ...scope],
  'token rotate-service': () => [
    'token',
    'rotate-service',
    '--id',
    ids.serviceToken,
    '--overlap',
    '1h',
    ...organization(),
  ],
  'token accept-issuer': () => ['token', 'accept-issuer', ids.federatedToken, ...organization()],
  'token revoke-service': () => ['token', 'revoke-service', '--id', ids.serviceToken, ...organization()],
  'token revoke': () => ['token', 'revoke', ids.personalToken],
  'passkey remove': () => ['passkey', 'remove', 'Laptop'],
  'passkey confirm': () => ['passkey', 'confirm', 'Laptop'],
  'identity remove': () => ['identity', 'remove', ids.identity],
  'member set': () => ['member', 'set', ids.email, '--role', 'owner', ...organization()],
  'member remove': () => ['member', 'remove', ids.email, ...organization()],
  'member appoint-owner': () => ['member', 'appoint-owner', ids.email, ...organization()],
  // The own role.
  'role set': () => ['role', 'set', world.owner.email, '--role', 'viewer', ...scope],
  'role remove': () => ['role', 'remove', ids.email, ...scope],
  'invitation accept': () => ['invitation', 'accept', '-o', ids.inviting],
  'invitation decline': () => ['invitation', 'decline', '-o', ids.inviting],
  'invitation withdraw': () => ['invitation', 'withdraw', world.stranger.email, '-o', world.slugs.organization],
  'cluster rules': () => ['cluster', 'rules', 'home', '--remove', ...organization()],
  // The first rule of a home cluster.
  'cluster allow': () => ['cluster', 'allow', 'home', ...scope],
  'cluster deny': () => ['cluster', 'deny', 'ruled', ...scope],
  'cluster update': () => ['cluster', 'update', 'far-away', '--reset-uid'],
  'cluster disable': () => ['cluster', 'disable', 'home'],
  'cluster forget': () => ['cluster', 'forget', 'home'],
  'issuer set': () => ['issuer', 'set', 'github', '--max-age', '1h'],
  'issuer delete': () => ['issuer', 'delete', 'github'],
  'user disable': () => ['user', 'disable', ids.email],
  'user grant-admin': () => ['user', 'grant-admin', ids.email],
  'user revoke-admin': () => ['user', 'revoke-admin', ids.email],
  'org delete': () => ['org', 'delete', world.slugs.organization],
  'project delete': () => ['project', 'delete', world.slugs.project, ...organization()],
  'env delete': () => ['env', 'delete', world.slugs.environment, ...scope.slice(0, 4)],
  'org purge': () => ['org', 'purge', ids.buried],
  'project purge': () => ['project', 'purge', ids.buried, ...organization()],
  'env purge': () => ['env', 'purge', ids.buried, ...scope.slice(0, 4)],
};

/** The id of a federated token whose issuer was changed. */
async function changedFederatedToken(): Promise<string> {
  const { database } = api.services;
  const issuer = await insertIssuer(database);
  const creation = ['token', 'create-service', '-n', 'jobs', '-s', 'organization', '-p', 'read', ...organization()];
  const proof = ['--issuer', issuer.name, '--claim', 'sub=ci', '--output', 'name'];
  const id = (await cli.output([...creation, ...proof])).trim();
  await changeIssuer(database, issuer);
  return id;
}

const place = (): string => Object.values(world.slugs).join('/');
const joined = (...slugs: readonly string[]): string => slugs.join('/');

/** What the question of each of them names: above all the place that would change. */
const named: Readonly<Record<string, () => string[]>> = {
  set: () => [`Set A, B in ${place()}?`],
  unset: () => [`Delete A from ${place()}?`],
  push: () => [`Apply these changes to ${place()}?`],
  edit: () => [`Apply these changes to ${place()}?`],
  undo: () => ['Undo revision 2', `in ${place()}?`],
  destroy: () => ['Destroy version 1 of A', `in ${place()} permanently?`],
  promote: () => [`Write 2 secrets in ${place()}?`],
  'snapshot restore': () => [`Restore 2 secrets in ${place()}?`],
  'snapshot delete': () => ['Delete snapshot', `of ${place()}?`],
  'snapshot prune': () => ['Delete 1 snapshot', `of ${place()} and keep 1?`],
  'token rotate-service': () => ['service token', world.slugs.organization],
  'token accept-issuer': () => ['Accept generation 2 of trusted issuer', 'service token "jobs"'],
  'token revoke-service': () => ['Revoke service token', `of ${world.slugs.organization}?`],
  'token revoke': () => ['Revoke your personal token "spare"?'],
  'passkey remove': () => ['Laptop'],
  'passkey confirm': () => ['Laptop'],
  'identity remove': () => [ids.identity],
  'member set': () => [`Make ${ids.email} an owner of ${world.slugs.organization}?`],
  'member remove': () => [ids.email, world.slugs.organization],
  'member appoint-owner': () => [`Make ${ids.email} an owner of ${world.slugs.organization}?`],
  'role set': () => [place()],
  'role remove': () => [ids.email, place()],
  'invitation accept': () => ['Accept to be', ids.inviting],
  'invitation decline': () => ['Decline to be', ids.inviting],
  'invitation withdraw': () => [world.stranger.email, world.slugs.organization],
  'cluster rules': () => [`of ${world.slugs.organization} for cluster home?`],
  'cluster allow': () => ['cluster home', world.slugs.organization],
  'cluster deny': () => [world.slugs.organization, 'cluster ruled'],
  'cluster update': () => ['Change how cluster far-away is proved?'],
  'cluster disable': () => ['Disable cluster home?'],
  'issuer set': () => ['Change trusted issuer github'],
  'issuer delete': () => ['Delete trusted issuer github?'],
  'user disable': () => [`Disable ${ids.email}?`],
  'user grant-admin': () => [ids.email],
  'user revoke-admin': () => [ids.email],
};

/** Those that ask to type a word: the place, and the word. */
const typed: Readonly<Record<string, () => readonly [place: string, word: string]>> = {
  'cluster forget': () => ['home', 'home'],
  'org delete': () => [world.slugs.organization, world.slugs.organization],
  'project delete': () => [joined(world.slugs.organization, world.slugs.project), world.slugs.project],
  'env delete': () => [place(), world.slugs.environment],
  'org purge': () => [ids.buried, ids.buried],
  'project purge': () => [joined(world.slugs.organization, ids.buried), ids.buried],
  'env purge': () => [joined(world.slugs.organization, world.slugs.project, ids.buried), ids.buried],
};

/** What the question names in the refusal without a terminal. */
function namedInRefusal(name: string): readonly string[] {
  // `edit` ends before it knows the place.
  if (name === 'edit') return ['Apply your changes?'];
  return named[name]?.() ?? typed[name]?.().slice(0, 1) ?? [];
}

const commands = commandTable.flatMap(({ entries }) =>
  entries.flatMap((entry) =>
    'commands' in entry ? entry.commands.map(({ name }) => `${entry.name} ${name}`) : [entry.name],
  ),
);

const tables =
  'organization project environment secret secret_version snapshot membership role_binding invitation app_user service_token service_token_federation personal_token passkey identity served_cluster cluster_rules cluster_registration trusted_issuer';

/** All that the commands could change. */
async function state(): Promise<unknown> {
  const prisma = prismaOf(api.services.database);
  const digests = tables
    .split(' ')
    .map(async (table) => [
      table,
      await prisma.$queryRawUnsafe(
        `SELECT md5(string_agg(row, '' ORDER BY row)) FROM (SELECT (to_jsonb(t) - 'last_used_at')::text AS row FROM "${table}" t) rows`,
      ),
    ]);
  return Object.fromEntries(await Promise.all(digests)) as unknown;
}

describe('consent', () => {
  test('every command is in the table `asks` or in the list `neverAsks`', () => {
    expect([...neverAsks, ...Object.keys(asks)].sort()).toEqual([...commands].sort());
  });

  test('the question of every command that asks is known', () => {
    expect([...Object.keys(named), ...Object.keys(typed)].sort()).toEqual(Object.keys(asks).sort());
  });

  test.each(Object.keys(asks))(
    'without a terminal and without --yes, %s names its question, changes nothing and ends with 7',
    async (name) => {
      const before = await state();
      const { code, stdout, stderr } = await cli.run(asks[name]?.() ?? [], { input: 'A=4\nB=4\n' });
      expect([code, stdout]).toEqual([7, '']);
      expect(stderr).toContain('To continue without confirmation, add --yes');
      const question = /there is no terminal to ask at: (?<question>.*)/.exec(stderr)?.groups?.['question'];
      for (const part of namedInRefusal(name)) expect(question).toContain(part);
      // The source of `promote`.
      expect(question).not.toContain('staging');
      expect(await state()).toEqual(before);
    },
  );

  // A question is the same at a terminal, except of `edit`.
  test.each(['edit', 'promote'])('a no to the question of %s leaves what it names unchanged', async (name) => {
    const before = await state();
    // The editor of `edit` changes a value.
    const env = { VISUAL: 'sed -i s/2/4/' };
    const { shown, code } = await cli.onTerminal(asks[name]?.() ?? [], [['[y/N]', 'n\r']], { env });
    const question = shown.slice(0, shown.indexOf('[y/N]')).split('\n').at(-1);
    for (const part of named[name]?.() ?? []) expect(question).toContain(part);
    expect(question).not.toContain('staging');
    expect(code).toBe(7);
    expect(await state()).toEqual(before);
  });

  test.each(Object.keys(typed))('%s is not confirmed by y', async (name) => {
    const [where, word] = typed[name]?.() ?? ['', ''];
    const before = await state();
    const { shown, code } = await cli.onTerminal(asks[name]?.() ?? [], [[`Type ${word} to continue:`, 'y\r']]);
    expect(shown).toContain(` ${where} with `);
    expect(shown).toContain('not confirmed; nothing was changed');
    expect(code).toBe(7);
    expect(await state()).toEqual(before);
  });

  test.each([
    ['yes', () => 'yes'],
    ['an empty line', () => ''],
    ['the word in capitals', (word: string) => word.toUpperCase()],
    ['the word with a blank within', (word: string) => `${word.slice(0, 2)} ${word.slice(2)}`],
    ['the beginning of the word', (word: string) => word.slice(0, -1)],
  ])('env delete is not confirmed by %s', async (_title, of) => {
    const [, word] = typed['env delete']?.() ?? ['', ''];
    const before = await state();
    const script = [[`Type ${word} to continue:`, `${of(word)}\r`]] as const;
    expect((await cli.onTerminal(asks['env delete']?.() ?? [], script)).code).toBe(7);
    expect(await state()).toEqual(before);
  });

  test('the word itself confirms', async () => {
    const [, word] = typed['env purge']?.() ?? ['', ''];
    const { code } = await cli.onTerminal(asks['env purge']?.() ?? [], [['to continue:', `${word}\r`]]);
    expect(code).toBe(0);
  });

  test.each([
    ['one secret', (): string[] => ['set', 'A=9', ...scope]],
    [
      'a role that can be taken back',
      (): string[] => ['member', 'set', ids.email, '--role', 'viewer', ...organization()],
    ],
    ['a role by place of another user', (): string[] => ['role', 'set', ids.email, '--role', 'viewer', ...scope]],
  ])('there is none for %s', async (_case, line) => {
    expect((await cli.run(line())).code).toBe(0);
  });

  test('there is one for the own role', async () => {
    const line = ['member', 'set', world.owner.email.toUpperCase(), '--role', 'viewer', ...organization()];
    const { code, stderr } = await cli.run(line);
    expect(code).toBe(7);
    expect(stderr).toContain(`Make yourself viewer of ${world.slugs.organization}?`);
  });
});

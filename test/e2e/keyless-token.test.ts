import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { AccessGrant } from '../../src/controller/generated/access-grant.ts';
import { CliRunner } from '../support/cli/cli.ts';
import {
  type AuditedRead,
  auditedReads,
  keylessTokensOf,
  refusedReads,
  secretSyncsOf,
} from '../support/cluster/keyless-tokens.ts';
import { conditionsOf } from '../support/cluster/resource-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { alpha, syncsOnly, TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** The keyless token of a namespace: who shares it, what it needs, and what the audit shows of it. */

const resources = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 8 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

describe('the keyless token of a namespace', () => {
  test('is listed with its holder and its last use, reads one environment, and has no value that could be replaced', async () => {
    const sync = await TokenSync.makeSynced(stack, syncsOnly);
    const { namespace, environment } = sync.site;
    const [token] = await keylessTokensOf(stack.admin, sync.site);
    const kubeSystem = await stack.kube.json({ path: '/api/v1/namespaces/kube-system' });
    const holder = { cluster: kubeSystem.metadata.uid, namespace };
    const shown = { scope: 'environment', permission: 'read', environmentId: environment.id, revokedAt: null };
    expect(token).toMatchObject({ holder, ...shown });
    await waitFor('the last use', async () => (await keylessTokensOf(stack.admin, sync.site))[0]?.lastUsedAt !== null);
    const cli = await cliOfAdmin();
    expect(await cli.output(['token', 'list-service', '-o', environment.ref.organization])).toContain(namespace);
    const rotated = await cli.run([
      'token',
      'rotate-service',
      '-o',
      environment.ref.organization,
      '--id',
      token?.id ?? '',
      '--overlap',
      '0s',
      '--yes',
    ]);
    expect(rotated.code).not.toBe(0);
    expect(rotated.stderr).toContain('has no value');
  });

  test('is shared by the SecretSyncs of the namespace, and not by those of another one', async () => {
    const sync = await TokenSync.makeSynced(stack, syncsOnly);
    await sync.syncs.create({ environmentRef: sync.site.environment.ref }, 'second');
    await sync.syncs.waitForReason('second', 'Synced');
    expect(await keylessTokensOf(stack.admin, sync.site)).toHaveLength(1);
    expect(await sync.readers()).toHaveLength(1);
  });

  test('is not made for a SecretSync that is suspended', async () => {
    const sync = await TokenSync.make(stack, syncsOnly);
    await sync.create({ suspend: true });
    await sync.waitForReason('Suspended');
    await sync.expectStays(async () => expect(await keylessTokensOf(stack.admin, sync.site)).toEqual([]));
    await sync.patch({ suspend: false });
    await sync.waitForValues(alpha);
    expect(await keylessTokensOf(stack.admin, sync.site)).toHaveLength(1);
  });
});

async function cliOfAdmin(): Promise<CliRunner> {
  const cli = await CliRunner.create({ url: stack.admin.url, token: { reveal: () => stack.adminToken } });
  resources.defer(() => cli.remove());
  return cli;
}

describe('without an AccessGrant', () => {
  test('a SecretSync shows the one it lacks, stalls with one Event, and is ready once that is applied', async () => {
    const sync = await TokenSync.make(stack, { ...syncsOnly, withoutGrant: true });
    await sync.create();
    const message = await sync.waitForReason('AccessDenied');
    const grant = parse(message.slice(message.indexOf('apiVersion:'))) as AccessGrant;
    expect(grant.spec.rules).toMatchObject([{ permission: 'Read', kinds: ['SecretSync'] }]);
    expect(conditionsOf(await sync.syncs.get('app'))).toContain('Reconciling True');
    expect(await warningsOf(sync)).toEqual([]);
    await waitFor('it to stall', async () => conditionsOf(await sync.syncs.get('app')).includes('Stalled True'));
    await waitFor('the Event', async () => (await warningsOf(sync)).length > 0);
    await sync.expectStays(async () => expect(await warningsOf(sync)).toEqual(['AccessDenied']));
    expect(await keylessTokensOf(stack.admin, sync.site)).toEqual([]);
    await stack.kube.json({ method: 'POST', path: '/apis/keyframe.dev/v1alpha1/accessgrants', body: grant });
    await sync.waitForValues(alpha);
  });

  test('that is withdrawn, the Secret stays as it is, and follows again when the grant returns', async () => {
    const sync = await TokenSync.makeSynced(stack, syncsOnly);
    await sync.site.withdraw();
    await sync.waitForReason('AccessDenied');
    await sync.site.environment.change({ A: 'meanwhile' });
    await sync.expectStays(async () => expect(await sync.values()).toEqual(alpha));
    await sync.site.grant();
    await sync.waitForValues({ A: 'meanwhile' });
    expect(await keylessTokensOf(stack.admin, sync.site)).toHaveLength(1);
  });
});

/** The reasons of the warnings about the SecretSync of a site. */
async function warningsOf({ site: { namespace } }: TokenSync): Promise<string[]> {
  interface SyncEvent {
    readonly type: string;
    readonly reason: string;
    readonly regarding: { readonly name: string };
  }
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const { items } = await stack.kube.json<{ items: SyncEvent[] }>({ path });
  return items.flatMap(({ type, reason, regarding }) =>
    type === 'Warning' && regarding.name === 'app' ? [reason] : [],
  );
}

describe('the audit', () => {
  const outcomes = (reads: readonly AuditedRead[]): string[] => reads.map(({ outcome }) => outcome);

  test('has one row for each read, as the token, with SecretSync, uid and source', async () => {
    const sync = await TokenSync.makeSynced(stack, syncsOnly);
    const { environment, namespace } = sync.site;
    const [token] = await keylessTokensOf(stack.admin, sync.site);
    const { organization, project, name } = environment.ref;
    const { uid } = (await sync.syncs.get('app')).metadata;
    const target = { organization, project, environment: name, secretSync: `${namespace}/app`, secretSyncUid: uid };
    const actor = { type: 'service_token', id: token?.id, name: token?.name };
    const row = { actor, outcome: 'success', label: '[Service Token]', credential: null };
    expect(await auditedReads(stack.admin, environment)).toMatchObject([{ ...row, target }]);
    await sync.patch({ environmentRef: null, sources: [{ name: 'own', environmentRef: environment.ref }] });
    await sync.waitForReason('Synced');
    await environment.change({ A: 'next' });
    await sync.waitForValues({ A: 'next' });
    const reads = await auditedReads(stack.admin, environment);
    expect(reads).toMatchObject([row, row, row]);
    expect(reads.map((read) => read.target['source'])).toEqual(['own', 'own', undefined]);
  });

  test('names each SecretSync that reads a commit once, in fewer entries than there are SecretSyncs', async () => {
    const sync = await TokenSync.makeSynced(stack, syncsOnly);
    const { environment, namespace } = sync.site;
    const names = Array.from({ length: 40 }, (_, index) => `other-${index}`);
    for (const name of names) await sync.syncs.create({ environmentRef: environment.ref }, name);
    for (const name of names) await sync.syncs.waitForReason(name, 'Synced');
    const { revision } = await environment.change({ A: 'next' });
    const readsOf = async (): Promise<AuditedRead[]> =>
      (await auditedReads(stack.admin, environment)).filter(({ target }) => target['revision'] === revision);
    const all = ['app', ...names].map((name) => `${namespace}/${name}`);
    const reads = await waitFor('all SecretSyncs to read the commit', async () => {
      const found = await readsOf();
      return found.flatMap(secretSyncsOf).length >= all.length && found;
    });
    expect(reads.flatMap(secretSyncsOf).toSorted()).toEqual(all.toSorted());
    expect(reads.length).toBeLessThan(all.length);
  });

  test('has one denial for each change of the grant or the spec, however often the SecretSync is tried', async () => {
    const sync = await TokenSync.makeSynced(stack, syncsOnly);
    const { environment } = sync.site;
    await sync.site.withdraw();
    await sync.waitForReason('AccessDenied');
    for (let times = 0; times < 3; times += 1) await sync.expectStays(() => undefined);
    const { uid } = (await sync.syncs.get('app')).metadata;
    const denials = async (): Promise<string[]> => outcomes(await refusedReads(stack.admin, uid));
    expect(await denials()).toEqual(['denied']);
    await sync.patch({ environmentRef: { name: 'another' } });
    await sync.waitForReason('AccessDenied');
    await waitFor('the denial of the new spec', async () => (await denials()).length === 2);
    await sync.expectStays(async () => expect(await denials()).toEqual(['denied', 'denied']));
    expect(outcomes(await auditedReads(stack.admin, environment))).toEqual(['success']);
  });
});

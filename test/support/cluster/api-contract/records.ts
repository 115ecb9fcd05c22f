import { expect } from '@jest/globals';
import { recordEvent } from '../../../../src/kube/client/events.ts';
import { clusterSecretSyncKind, secretSyncKind } from '../../../../src/kube/client/keyframe-kinds.ts';
import type { KubeObject } from '../../../../src/kube/client/objects.ts';
import { Lease, type LeaseObject } from '../../../../src/kube/lease.ts';
import { type ContractCase, type ContractSite, refusal } from './site.ts';

const event = { type: 'Normal', reason: 'Synced', action: 'Sync', note: 'a note', at: 1_767_225_600_000 } as const;
const deps = { controller: 'keyframe.dev/contract', instance: 'contract' };

async function send(site: ContractSite, changes: Readonly<Record<string, unknown>>): Promise<unknown> {
  return await site.call('POST', `/apis/events.k8s.io/v1/namespaces/${site.namespace}/events`, {
    body: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { generateName: 'a-', namespace: site.namespace },
      eventTime: '2026-01-01T00:00:00.000000Z',
      type: 'Normal',
      reason: 'Synced',
      action: 'Sync',
      note: 'a note',
      reportingController: deps.controller,
      reportingInstance: deps.instance,
      regarding: { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', name: 'a', namespace: site.namespace },
      ...changes,
    },
  });
}

export const eventCases: readonly ContractCase[] = [
  {
    title: 'about a namespaced object is accepted, twice under one name',
    expectHolds: async (site) => {
      const object = { metadata: await site.makeSync('a') };
      for (const note of ['x', 'y'.repeat(5000)])
        await recordEvent({ client: site.client, ...deps }, secretSyncKind, object, { ...event, note });
    },
  },
  {
    title: 'about a cluster-scoped object is accepted',
    expectHolds: async (site) => {
      const metadata = { name: `shared-${site.namespace}`, uid: 'u', resourceVersion: '1' };
      const object: KubeObject = { metadata };
      await recordEvent({ client: site.client, ...deps }, clusterSecretSyncKind, object, event);
    },
  },
  ...Object.entries({
    'with a note of more than 1024 characters': { note: 'x'.repeat(1025) },
    'of another type': { type: 'Error' },
    'without a reason': { reason: '' },
    'without an action': { action: '' },
    'with an action of more than 128 characters': { action: 'x'.repeat(129) },
    'without a controller': { reportingController: '' },
    'with the name of an instance of more than 128 characters': { reportingInstance: 'x'.repeat(129) },
    'without a time': { eventTime: null },
  }).map(([title, changes]) => ({
    title: `${title} is refused`,
    expectHolds: async (site: ContractSite) => expect(await refusal(send(site, changes))).toBe('422 Invalid'),
  })),
];

function holder(site: ContractSite, identity: string): Lease {
  return new Lease({
    client: site.client,
    place: { namespace: site.namespace, name: 'controller' },
    identity,
    durationSeconds: 10,
    now: () => Date.UTC(2026, 0, 1),
    steadyNow: () => 5000,
  });
}

const leasePath = ({ namespace }: ContractSite): string =>
  `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/controller`;
const call = { timeoutMs: 30_000 };

export const leaseCases: readonly ContractCase[] = [
  {
    title: 'is had by one of two who make it at the same time',
    expectHolds: async (site) => {
      const attempts = await Promise.all(['a', 'b'].map((identity) => holder(site, identity).attempt(call)));
      expect(attempts.map(({ kind }) => kind).sort()).toEqual(['held', 'taken']);
    },
  },
  {
    title: 'is renewed, keeps what others wrote beside the record, and is released',
    expectHolds: async (site) => {
      const a = holder(site, 'a');
      await a.attempt(call);
      await site.patch(leasePath(site), { metadata: { labels: { one: 'x' } } });
      expect(await a.attempt(call)).toMatchObject({ kind: 'held', isNew: false });
      const { metadata, spec } = await site.call<LeaseObject>('GET', leasePath(site));
      expect(metadata.labels).toEqual({ one: 'x' });
      expect(spec).toEqual({
        holderIdentity: 'a',
        leaseDurationSeconds: 10,
        acquireTime: '2026-01-01T00:00:00.000000Z',
        renewTime: '2026-01-01T00:00:00.000000Z',
        leaseTransitions: 0,
      });
      await a.release(call);
      expect(await holder(site, 'b').attempt(call)).toMatchObject({ kind: 'held', isNew: true });
    },
  },
  {
    title: 'that was deleted is made again by its holder',
    expectHolds: async (site) => {
      const a = holder(site, 'a');
      await a.attempt(call);
      const { metadata, spec } = await site.call<LeaseObject>('GET', leasePath(site));
      await site.call('DELETE', leasePath(site), { body: { apiVersion: 'v1', kind: 'DeleteOptions' } });
      const { managedFields: _, ...seen } = metadata;
      const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: seen, spec };
      expect(await refusal(site.call('PUT', leasePath(site), { body }))).toMatch(/^(?:404 NotFound|409 Conflict)$/);
      expect(await a.attempt(call)).toMatchObject({ kind: 'held', isNew: true });
    },
  },
];

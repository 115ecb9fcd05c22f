import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { accessMatrix, grantManifest } from '../../../src/dashboard/text/access-matrix.ts';
import type { FleetConsumerView } from '../../../src/wire/consumers.ts';
import type { ServiceTokenView } from '../../../src/wire/service-tokens.ts';

const consumer = (given: Partial<FleetConsumerView>): FleetConsumerView =>
  ({
    cluster: 'c1',
    namespace: 'shop',
    environmentId: 'e1',
    environmentDeleted: false,
    environmentRevision: 1,
    environmentRevisionId: 'r1',
    ready: true,
    reason: 'Synced',
    ...given,
  }) as FleetConsumerView;
const token = (given: Partial<ServiceTokenView>): ServiceTokenView =>
  ({
    holder: { cluster: 'c1', namespace: 'shop' },
    environmentId: 'e1',
    revokedAt: null,
    ...given,
  }) as ServiceTokenView;

const statesOf = (consumers: readonly FleetConsumerView[], tokens: readonly ServiceTokenView[] = []) =>
  accessMatrix(consumers, tokens).map(({ cluster, namespace, cells }) => [
    `${cluster} ${namespace}`,
    Object.fromEntries([...cells].map(([id, { state }]) => [id, state])),
  ]);

test('namespaces are rows by cluster and name, with what they may do in each environment', () => {
  expect(
    statesOf([
      consumer({ namespace: 'web' }),
      consumer({}),
      consumer({ environmentId: 'e2', ready: false, reason: 'AccessDenied' }),
      consumer({ cluster: 'c0', ready: false, reason: 'NotFound' }),
    ]),
  ).toEqual([
    ['c0 shop', { e1: 'reads' }],
    ['c1 shop', { e1: 'reads', e2: 'refused' }],
    ['c1 web', { e1: 'reads' }],
  ]);
});

test('one refused SecretSync makes the cell refused, and a revoked token makes it revoked', () => {
  const both = [consumer({}), consumer({ ready: false, reason: 'TokenRevoked' })];
  expect(statesOf(both)).toEqual([['c1 shop', { e1: 'refused' }]]);
  expect(statesOf(both, [token({})])).toEqual([['c1 shop', { e1: 'refused' }]]);
  expect(statesOf(both, [token({ revokedAt: '2026-01-01T00:00:00.000Z' })])).toEqual([['c1 shop', { e1: 'revoked' }]]);
});

test('a token without a SecretSync has a cell; hidden namespaces, other tokens and deleted environments have none', () => {
  expect(statesOf([], [token({})])).toEqual([['c1 shop', { e1: 'reads' }]]);
  expect(statesOf([], [token({ holder: null })])).toEqual([]);
  expect(statesOf([consumer({ namespace: null }), consumer({ environmentDeleted: true })])).toEqual([]);
});

test('the grant names the namespace and the environment, and nothing else', () => {
  const text = grantManifest('shop', { organization: 'acme', project: 'web', environment: 'production' });
  expect(parse(text)).toEqual({
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'AccessGrant',
    metadata: { name: 'shop-web-production' },
    spec: {
      namespaces: ['shop'],
      rules: [{ organization: 'acme', project: 'web', environments: ['production'], kinds: ['SecretSync'] }],
    },
  });
});

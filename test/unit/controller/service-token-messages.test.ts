import { test } from '@jest/globals';
import * as messages from '../../../src/controller/kinds/service-token/messages.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { claim } from './claims.ts';
import { type Samples, expectGolden } from './golden-messages.ts';

const secret = 'web-token';
const named = { namespace: 'ns', name: secret };

const samples: Samples<typeof messages> = {
  suspended: [messages.suspended],
  issued: [messages.issued(secret, 3)],
  federated: [messages.federated(['ci']), messages.federated(['ci', 'web.batch'])],
  federationExpired: [messages.federationExpired],
  federationExpiring: [messages.federationExpiring('2026-11-11T02:00:00Z')],
  expired: [messages.expired(secret)],
  expiring: [messages.expiring(secret, '2026-11-11T02:00:00Z')],
  revoked: [messages.revoked],
  sourceReplaced: [messages.sourceReplaced],
  noPlace: [messages.noPlace('Organization'), messages.noPlace('Project'), messages.noPlace('Environment')],
  grantMissing: [messages.grantMissing('no AccessGrant covers it.')],
  clusterRefused: [messages.clusterRefused('cluster prod is disabled.')],
  unmanagedSecret: [
    messages.unmanagedSecret(secret, undefined),
    messages.unmanagedSecret(secret, { kind: 'SecretSync', name: 'web' }),
  ],
  claimedSecret: [
    messages.claimedSecret(named, { holder: claim(), isPresent: true }),
    messages.claimedSecret(named, { holder: claim({ kind: 'ServiceToken', name: 'ci' }), isPresent: true }),
    messages.claimedSecret(named, { holder: claim(), isPresent: false }),
    messages.claimedSecret(named, { holder: claim({ isMerge: true }), isPresent: false }),
  ],
  secretRefused: [
    messages.secretRefused(secret, new ApiError('POST', 403, 'Forbidden')),
    messages.secretRefused(secret, new ApiError('POST', 403, 'Forbidden', { refuser: 'ResourceQuota few' })),
  ],
  secretUnstable: [messages.secretUnstable()],
  grantChanged: [messages.grantChanged()],
  orphanSuspended: [messages.orphanSuspended],
  sharedName: [messages.sharedName],
  namespacesUnlisted: [messages.namespacesUnlisted],
};

test('every message of a ServiceToken is in its golden file', () => {
  expectGolden('service-token', [[messages, samples]]);
});

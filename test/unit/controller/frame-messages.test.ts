import { test } from '@jest/globals';
import * as messages from '../../../src/controller/frame/messages.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { type Samples, expectGolden } from './golden-messages.ts';

const lease = 'keyframe-controller';

const samples: Samples<typeof messages> = {
  suspended: [messages.suspended],
  unexpectedError: [messages.unexpectedError(new TypeError('x is undefined'))],
  clusterUnavailable: [
    messages.clusterUnavailable(new ApiError('GET', 0, 'ECONNREFUSED')),
    messages.clusterUnavailable(new ApiError('GET', 403, 'Forbidden')),
    messages.clusterUnavailable(new ApiError('GET', 500, 'InternalError')),
  ],
  clusterUnidentified: [messages.clusterUnidentified('kube-system')],
  reconcileFailed: [messages.reconcileFailed],
  workFailed: [messages.workFailed],
  statusNotWritten: [messages.statusNotWritten],
  eventNotRecorded: [messages.eventNotRecorded],
  watchDenied: [messages.watchDenied(['SecretSyncs', 'Namespaces'])],
  definitionsMissing: [messages.definitionsMissing(['SecretSync', 'AccessGrant'])],
  featuresDisabled: [messages.featuresDisabled(['AccessGrants'])],
  firstListMissing: [messages.firstListMissing('SecretSyncs')],
  firstListReceived: [messages.firstListReceived],
  leaseForbidden: [messages.leaseForbidden(lease, 'keyframe')],
  leaseNamespaceMissing: [messages.leaseNamespaceMissing('keyframe')],
  leaseUnread: [messages.leaseUnread(lease)],
  leading: [messages.leading],
  standingBy: [messages.standingBy],
  leadingNoLonger: [messages.leadingNoLonger],
  leaseTaken: [messages.leaseTaken],
  leaseExpired: [messages.leaseExpired],
  leaseInterrupted: [messages.leaseInterrupted],
  processStops: [messages.processStops],
  leaseLeft: [messages.leaseLeft],
  leaseAttemptFailed: [messages.leaseAttemptFailed],
  leaseNotReleased: [messages.leaseNotReleased],
  clusterNameTaken: [messages.clusterNameTaken('prod', '7c1f0a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e')],
  clusterNameUnconfirmed: [messages.clusterNameUnconfirmed('prod')],
  clusterStopped: [messages.clusterStopped('prod', 'disabled'), messages.clusterStopped('prod', 'forgotten')],
  clockSkewed: [messages.clockSkewed(3_600_000), messages.clockSkewed(-45_400)],
  issuerUnknown: [messages.issuerUnknown('GET /openid/v1/jwks: 403 Forbidden')],
  helloAccepted: [messages.helloAccepted],
  clusterAccepted: [messages.clusterAccepted],
  cleanupFailed: [messages.cleanupFailed('The database cannot be reached.')],
  releasedByForce: [messages.releasedByForce],
  accessLost: [messages.accessLost('servicetokens', 'team-a')],
};

test('every message of the frame is in its golden file', () => {
  expectGolden('frame', [[messages, samples]]);
});

import { test } from '@jest/globals';
import * as messages from '../../../src/controller/kinds/secret-sync/messages.ts';
import * as ownershipMessages from '../../../src/controller/kinds/secret-sync/ownership-messages.ts';
import type { MergeObstacle, SourceRevision } from '../../../src/controller/kinds/secret-sync/model.ts';
import * as sourceMessages from '../../../src/controller/kinds/secret-sync/source-messages.ts';
import * as tokenMessages from '../../../src/controller/kinds/secret-sync/token-messages.ts';
import { type Source, sourcesOf } from '../../../src/controller/kinds/secret-sync/spec/source.ts';
import type { ServiceToken } from '../../../src/controller/generated/service-token.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { secretSync } from './builders.ts';
import { claim } from './claims.ts';
import { type Samples, expectGolden } from './golden-messages.ts';
import { prod, wanted } from './judge-facts.ts';

const sync = secretSync();
const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
const united = secretSync({
  spec: {
    sources: [
      { name: 'shared', environmentRef, revision: 3 },
      { name: 'own', environmentRef },
    ],
  },
});
const pinned = secretSync({ spec: { snapshotRef: { name: 'good' } } });
const merging = secretSync({ target: { creationPolicy: 'Merge' } });
const digest = '0f'.repeat(16);

/** The first source of a SecretSync. */
function sourceOf(of = sync): Source {
  const [source] = sourcesOf(of);
  if (source === undefined) throw new Error('a SecretSync has a source');
  return source;
}

function expected(error: DomainError | undefined): DomainError {
  if (error === undefined) throw new Error('the facts are no error');
  return error;
}

const revision = (number: number, name?: string): SourceRevision => {
  return { ...(name === undefined ? {} : { name }), revision: number, revisionId: `r${number}` };
};
const rolledBack = { data: digest, sources: [revision(3)], held: { data: digest, sources: [revision(2)] } };
const loss = { keys: ['A', 'B'], of: 3, digest, originOf: (): undefined => undefined, given: new Set<string>() };
const refusal = (status: number, reason: string): ApiError => new ApiError('PUT', status, reason);
const refusedBy = (refuser: string): DomainError =>
  expected(messages.targetRefused(sync, new ApiError('POST', 403, 'Forbidden', { refuser }), false));
const refused = (status: number, reason: string, isMerge = false): DomainError =>
  expected(messages.targetRefused(isMerge ? merging : sync, refusal(status, reason), isMerge));
const conflict = (field: string, manager?: string): DomainError => {
  const causes = [{ reason: 'FieldManagerConflict', field, manager }];
  return expected(ownershipMessages.mergeConflict(merging, new ApiError('PATCH', 409, 'Conflict', { causes })));
};
const forbidden = (obstacle: MergeObstacle): DomainError => ownershipMessages.mergeForbidden(merging, obstacle);
const purged = { before: 'e1', now: prod };

const samples: Samples<typeof messages> = {
  suspended: [messages.suspended],
  synced: [
    messages.synced(sync, wanted),
    messages.synced(secretSync({ spec: { revision: 7 } }), { ...wanted, names: ['A'] }),
    messages.synced(pinned, wanted),
    messages.synced(united, {
      sources: [
        { ...prod, name: 'shared' },
        { ...prod, name: 'own' },
      ],
      names: ['A', 'B'],
    }),
  ],
  matchesNothing: [
    messages.matchesNothing('spec.keys.include', ['NOPE']),
    messages.matchesNothing('spec.sources[shared].keys.hidden', ['NOPE', 'DB_*']),
  ],
  stripsNothing: [messages.stripsNothing('spec.keys.rewrite', 'APP_')],
  bracesAreText: [messages.bracesAreText(['URL'])],
  rolledBack: [
    messages.rolledBack(sync, { ...rolledBack, cause: 'Deployment web, container main: CrashLoopBackOff' }),
    messages.rolledBack(united, {
      ...rolledBack,
      sources: [revision(4, 'shared'), revision(9, 'own')],
    }),
  ],
  revisions: [messages.revisions([revision(7)]), messages.revisions([revision(4, 'shared'), revision(9, 'own')])],
  dataDiffers: [messages.dataDiffers],
  sourcesDiffer: [messages.sourcesDiffer],
  valuesDestroyedSince: [messages.valuesDestroyedSince(['A', 'B'])],
  keysDeletedSince: [messages.keysDeletedSince(['A']), messages.keysDeletedSince(['A', 'B'])],
  revisionGone: [messages.revisionGone('acme/web/prod')],
  beingDeleted: [messages.beingDeleted(sync)],
  changedMeanwhile: [messages.changedMeanwhile(sync, 3)],
  tooLarge: [
    messages.tooLarge(sync, 1_048_577, true),
    messages.tooLarge(united, 2_000_000, false),
    messages.tooLarge(secretSync({ spec: { template: { data: { URL: 'x' } } } }), 2_000_000, true),
  ],
  recordTooLong: [messages.recordTooLong(united, 300_000, true), messages.recordTooLong(united, 300_000, false)],
  typeUnmet: [messages.typeUnmet(sync, sourceMessages.typeRequires('kubernetes.io/basic-auth', 'the key username'))],
  sourceReplaced: [
    messages.sourceReplaced(sync, [purged], 'keyframe.dev/source'),
    messages.sourceReplaced(
      united,
      [
        { before: 'a b', now: { ...prod, name: 'own' } },
        { before: 'e1', now: { ...prod, name: 'shared' } },
      ],
      'keyframe.dev/sources',
    ),
  ],
  deletionBlocked: [
    messages.deletionBlocked(sync, loss),
    messages.deletionBlocked(pinned, loss),
    messages.deletionBlocked(united, {
      ...loss,
      originOf: (key) => (key === 'A' ? 'own' : undefined),
      given: new Set(['A']),
    }),
  ],
  targetRefused: [
    refused(400, 'BadRequest'),
    refused(403, 'Forbidden'),
    refused(404, 'NotFound'),
    refused(413, 'RequestEntityTooLarge'),
    refused(422, 'Invalid'),
    refused(422, 'Invalid', true),
    refusedBy('ResourceQuota few'),
    refusedBy('ValidatingAdmissionPolicy no-secrets'),
  ],
  metadataNotAllowed: [
    messages.metadataNotAllowed('labels', ['argocd.argoproj.io/secret-type'], ['app', 'example.com/']),
    messages.metadataNotAllowed('annotations', ['a.example.org/x', 'b'], ['example.com/']),
  ],
  tooLargeTogether: [messages.tooLargeTogether(merging, refusal(422, 'Invalid'))],
};

const child = secretSync({ metadata: { labels: { 'keyframe.dev/cluster-sync': 'app' } } });

const controller = { apiVersion: 'external-secrets.io/v1', kind: 'ExternalSecret', name: 'web', uid: 'e' };
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', uid: 'c' };
const strange = { apiVersion: 'v1', kind: 'A b', name: '`x`', uid: 's' };
const deletedWith = secretSync({ target: { deletionPolicy: 'Delete' } });

const ownershipSamples: Samples<typeof ownershipMessages> = {
  controlled: [ownershipMessages.controlled(sync, controller)],
  otherOwner: [
    ownershipMessages.otherOwner(sync, [configMap]),
    ownershipMessages.otherOwner(sync, [configMap, strange]),
    ownershipMessages.otherOwner(deletedWith, [configMap]),
    ownershipMessages.otherOwner(deletedWith, [configMap, strange]),
  ],
  targetClaimed: [
    ownershipMessages.targetClaimed(sync, { holder: claim(), isPresent: true }),
    ownershipMessages.targetClaimed(sync, { holder: claim({ kind: 'ServiceToken', name: 'ci' }), isPresent: true }),
    ownershipMessages.targetClaimed(child, { holder: claim(), isPresent: true }),
    ownershipMessages.targetClaimed(sync, { holder: claim(), isPresent: false }),
    ownershipMessages.targetClaimed(sync, { holder: claim({ kind: 'ServiceToken', name: 'ci' }), isPresent: false }),
    ownershipMessages.targetClaimed(sync, { holder: claim({ isMerge: true }), isPresent: false }),
    ownershipMessages.targetClaimed(child, { holder: claim(), isPresent: false }),
  ],
  notOwned: [
    ownershipMessages.notOwned(sync, undefined),
    ownershipMessages.notOwned(sync, { kind: 'SecretSync', name: 'other' }),
    ownershipMessages.notOwned(sync, { kind: 'SecretSync', name: undefined }),
    ownershipMessages.notOwned(sync, { kind: 'ServiceToken', name: 'ci' }),
    ownershipMessages.notOwned(child, undefined),
  ],
  mergeForbidden: [
    forbidden({ kind: 'absent' }),
    forbidden({ kind: 'no-consent', allowed: [] }),
    forbidden({ kind: 'no-consent', allowed: ['other'] }),
    forbidden({ kind: 'no-consent', allowed: Array.from({ length: 9 }, () => 'x'.repeat(50)) }),
    forbidden({ kind: 'owned', owner: 'app' }),
    forbidden({ kind: 'owned', owner: 'other' }),
    forbidden({ kind: 'owned', owner: 'a b' }),
    forbidden({ kind: 'deleting' }),
    forbidden({ kind: 'immutable' }),
    forbidden({ kind: 'service-account-token' }),
    forbidden({ kind: 'token-secret' }),
    forbidden({ kind: 'unmerged', others: ['a', 'b'] }),
  ],
  mergeConflict: [
    conflict('.data.A', 'helm'),
    conflict('.data.A'),
    conflict('.data.A', 'keyframe-merge-other'),
    conflict('.metadata.annotations.merge.keyframe.dev/app', 'kubectl-annotate'),
  ],
};

const source = sourceOf(secretSync({ spec: { tokenRef: { name: 'reader' } } }));
const pin = { resource: pinned, source: sourceOf(pinned) };
const shared = { resource: united, source: sourceOf(united) };
const versions = Array.from({ length: 12 }, (_, index) => ({ key: `K${index}`, version: 1 }));
const missing = { missing: ['HOST', 'PORT'], composed: new Set(['URL']), keysField: 'spec.keys' };
const denied = { reason: 'AccessDenied', message: 'No AccessGrant covers acme/web/prod.' };

const tokenKey = { name: 'token', key: 'other' };
const tokenOfReader = {
  name: 'reader-token',
  key: 'token',
  serviceToken: { metadata: { name: 'reader' } } as ServiceToken,
};
const hidden = new DomainError('not_found', 'x');

const tokenSamples: Samples<typeof tokenMessages> = {
  tokenRefused: [
    tokenMessages.tokenRefused(tokenKey, 'the token was revoked', new DomainError('unauthenticated', 'x')),
  ],
  personalToken: [tokenMessages.personalToken(tokenKey)],
  tokenMissing: [
    tokenMessages.tokenMissing('token', 'other', sourceOf(secretSync())),
    tokenMessages.tokenMissing('token', 'token', sourceOf(united)),
    tokenMessages.tokenMissing('reader-token', 'token', source),
  ],
  tokenSecretUnmanaged: [tokenMessages.tokenSecretUnmanaged('reader-token', 'reader')],
  serviceTokenMissing: [tokenMessages.serviceTokenMissing(source)],
  serviceTokenDeleted: [tokenMessages.serviceTokenDeleted('reader', source)],
  serviceTokenFederated: [tokenMessages.serviceTokenFederated('ci', source)],
  tokenSecretIsTarget: [tokenMessages.tokenSecretIsTarget(sync, 'reader')],
  serviceTokenPending: [tokenMessages.serviceTokenPending('reader')],
  serviceTokenUnready: [tokenMessages.serviceTokenUnready('reader', 'service_token_denied', denied)],
  withNewToken: [
    tokenMessages.withNewToken(tokenMessages.personalToken(tokenKey), sync, sourceOf()),
    tokenMessages.withNewToken(tokenMessages.tokenRefused(tokenKey, tokenMessages.tokenCut, hidden), sync, sourceOf()),
  ],
  tokenCut: [tokenMessages.tokenCut],
  tokenSurrounded: [tokenMessages.tokenSurrounded],
  tokenEncodedTwice: [tokenMessages.tokenEncodedTwice],
  tokenInUtf16: [tokenMessages.tokenInUtf16],
  sessionInstead: [tokenMessages.sessionInstead],
  notVisible: [
    tokenMessages.notVisible(sourceOf(), { ...tokenKey, serviceToken: undefined }, hidden),
    tokenMessages.notVisible(sourceOf(united), tokenOfReader, hidden),
  ],
};

const sourceSamples: Samples<typeof sourceMessages> = {
  noSources: [sourceMessages.noSources()],
  notFound: [sourceMessages.notFound(sync, new DomainError('not_found', 'environment acme/web/prod does not exist.'))],
  revisionNotFound: [sourceMessages.revisionNotFound(shared, 9, 7)],
  snapshotNotFound: [sourceMessages.snapshotNotFound(pin, 'good')],
  snapshotNotReady: [
    sourceMessages.snapshotNotReady(pin, 'good', 'AccessDenied'),
    sourceMessages.snapshotNotReady(pin, 'good', undefined),
  ],
  snapshotGone: [sourceMessages.snapshotGone(pin, 'good')],
  snapshotMismatch: [
    sourceMessages.snapshotMismatch(pin, 'good', { organization: 'acme', project: 'web', environment: 'staging' }),
    sourceMessages.snapshotMismatch(pin, 'good', { organization: 'acme', project: 'web', environment: 'prod' }),
  ],
  valuesDestroyed: [
    sourceMessages.valuesDestroyed(pin, versions.slice(0, 1)),
    sourceMessages.valuesDestroyed(shared, versions),
  ],
  keysCollide: [sourceMessages.keysCollide('C', ['B', 'A'], 'spec.keys')],
  keyInvalid: [
    sourceMessages.keyInvalid('APP_', 'spec.keys', 'must be 1 to 253 letters, digits, dots, underscores and hyphens'),
  ],
  valueNotBase64: [sourceMessages.valueNotBase64('KEYSTORE', 'spec.keys.decodeBase64')],
  typeRequires: [
    sourceMessages.typeRequires('kubernetes.io/basic-auth', 'the key username or password'),
    sourceMessages.typeRequires('kubernetes.io/ssh-auth', 'the key ssh-privatekey with a value'),
    sourceMessages.typeRequires('kubernetes.io/dockercfg', 'a JSON object as the value of .dockercfg'),
  ],
  typeRequiresKeys: [
    sourceMessages.typeRequiresKeys('kubernetes.io/tls', ['tls.crt', 'tls.key'], ['tls.key']),
    sourceMessages.typeRequiresKeys('kubernetes.io/tls', ['tls.crt', 'tls.key'], ['tls.crt', 'tls.key']),
  ],
  templateInvalid: [sourceMessages.templateInvalid('URL', 3, sourceMessages.keyExpected)],
  keyExpected: [sourceMessages.keyExpected],
  endExpected: [sourceMessages.endExpected],
  textExpected: [sourceMessages.textExpected('default')],
  functionExpected: [sourceMessages.functionExpected(''), sourceMessages.functionExpected('upper')],
  templateKeyMissing: [
    sourceMessages.templateKeyMissing('URL', missing),
    sourceMessages.templateKeyMissing('URL', { ...missing, missing: ['URL'] }),
  ],
  templateValueBinary: [sourceMessages.templateValueBinary('URL', 'KEYSTORE', 'spec.keys')],
  templateValueNotJson: [
    sourceMessages.templateValueNotJson('URL', 'LOGIN', 'password'),
    sourceMessages.templateValueNotJson('URL', 'LOGIN', `a "quoted"\nname${'🔑'.repeat(64)}`),
  ],
  templateFieldMissing: [sourceMessages.templateFieldMissing('URL', 'LOGIN', 'password')],
  templateFieldBinary: [sourceMessages.templateFieldBinary('URL', 'LOGIN', 'password')],
  templateWorkTooLarge: [sourceMessages.templateWorkTooLarge(8_388_608)],
  hiddenTooLarge: [sourceMessages.hiddenTooLarge(1_048_577, 'spec.keys', 1_048_576)],
  namesTooLarge: [sourceMessages.namesTooLarge(1_048_577, 'spec.sources[].keys', 1_048_576)],
  tooMuchToRead: [sourceMessages.tooMuchToRead(10_001, 'keys of one environment', 10_000)],
  tooManyKeys: [sourceMessages.tooManyKeys('spec.sources[].keys', 20_000)],
  templateTooLarge: [sourceMessages.templateTooLarge('URL', 1_048_576)],
  templatesTooLarge: [sourceMessages.templatesTooLarge(1_048_576)],
  templateKeyConflict: [sourceMessages.templateKeyConflict('URL', 'spec.keys')],
  statesNotReported: [sourceMessages.statesNotReported],
  statesRefused: [sourceMessages.statesRefused('at most 5. Delete some')],
  statesReportedAgain: [sourceMessages.statesReportedAgain],
};

test('every message of a SecretSync is in its golden file', () => {
  expectGolden('secret-sync', [
    [messages, samples],
    [ownershipMessages, ownershipSamples],
    [tokenMessages, tokenSamples],
    [sourceMessages, sourceSamples],
  ]);
});

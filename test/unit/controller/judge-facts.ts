import { createHash } from 'node:crypto';
import type { Facts, OwnedTargetFacts, SourceFacts } from '../../../src/controller/secret-sync/judge.ts';
import type { SecretSync } from '../../../src/controller/generated/secret-sync.ts';
import { DomainError } from '../../../src/domain/domain-error.ts';
import { secretSync } from './builders.ts';

export const source: SourceFacts = {
  environmentId: 'e',
  revision: 7,
  revisionId: 'r7',
  keys: ['A', 'B'],
  names: ['A', 'B'],
  bytes: 10,
  unmetNeed: undefined,
  record: { 'keyframe.dev/source': 'acme/web/prod@e' },
  fingerprint: Buffer.from('wanted'),
};
export const owned: OwnedTargetFacts = {
  state: 'owned',
  uid: 'u',
  resourceVersion: '5',
  type: 'Opaque',
  isImmutable: false,
  isDeleting: false,
  metadataFits: true,
  record: { 'keyframe.dev/source': 'acme/web/prod@e' },
  keys: ['A', 'B'],
  fingerprint: Buffer.from('wanted'),
};
export const precondition = { uid: 'u', resourceVersion: '5' };
export const merging = secretSync({ target: { creationPolicy: 'Merge' } });
export const unreadable = new DomainError('not_found', 'environment acme/web/prod does not exist');

export function facts(more: Partial<Facts>): Facts {
  return { sync: secretSync(), target: owned, source, ...more };
}

/** The Secret with three keys more, which the environment has not. */
export function lossy(more: Partial<OwnedTargetFacts> = {}): OwnedTargetFacts {
  return { ...owned, keys: ['A', 'B', 'X', 'Y', 'Z'], fingerprint: Buffer.from('other'), ...more };
}

/** The record of a Secret that was pinned. */
export function pinned(pin: string): OwnedTargetFacts['record'] {
  return { 'keyframe.dev/source': `acme/web/prod@e#${pin}` };
}

export const lostDigest = createHash('sha256').update('X\nY\nZ\n').digest('hex').slice(0, 32);
export const lost = (annotation: string): SecretSync =>
  secretSync({ metadata: { annotations: { 'keyframe.dev/allow-deletion': annotation } } });

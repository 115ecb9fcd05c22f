import { createHash } from 'node:crypto';
import type { SecretSync } from '../../../src/controller/generated/secret-sync.ts';
import { pinText } from '../../../src/controller/kinds/secret-sync/spec/pin.ts';
import { sourcesOf } from '../../../src/controller/kinds/secret-sync/spec/source.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { secretSync } from './builders.ts';
import {
  type OwnedTargetFacts,
  type SourceFacts,
  type WantedFacts,
  type Facts,
} from '../../../src/controller/kinds/secret-sync/model.ts';

export const prod: SourceFacts = {
  name: undefined,
  path: 'acme/web/prod',
  environmentId: 'e',
  pin: undefined,
  revision: 7,
  revisionId: 'r7',
  keys: ['A', 'B'],
};
export const wanted: WantedFacts = {
  sources: [prod],
  names: ['A', 'B'],
  origins: new Map([
    ['A', undefined],
    ['B', undefined],
  ]),
  bytes: 10,
  isBytesExact: true,
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

/** What was seen of ns/app, read at the state that its spec asks for. */
export function facts(more: Partial<Facts>): Facts {
  const sync = more.sync ?? secretSync();
  const [only] = sourcesOf(sync);
  const sources = [{ ...prod, pin: only === undefined ? undefined : pinText(only) }];
  return { sync, target: owned, wanted: { ...wanted, sources }, ...more };
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

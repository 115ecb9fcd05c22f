import { isDeepStrictEqual } from 'node:util';
import type { DomainError } from '../../../../domain/domain-error.ts';
import { secretSyncKind } from '../../../../kube/keyframe-kinds.ts';
import { type NamespacedName, objectKey, parseObjectKey } from '../../../../kube/objects.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { ServiceToken, ServiceTokenSpec } from '../../../generated/service-token.ts';
import { secretOf, tokenDataKey } from '../../service-token/resource.ts';
import { targetOf } from '../spec/resource.ts';
import { type Source, sourcesOf } from '../spec/source.ts';
import { leaving, missing, notOurs, predecessors, sameSecret, unready } from './service-token-refusals.ts';

/** How a source of a SecretSync comes by its token, from what is seen of the ServiceTokens alone. Pure. */

/** Where the token is read. */
export interface TokenPlace extends NamespacedName {
  readonly key: string;
  /** The ServiceToken whose Secret it is; undefined where the source names the Secret itself. */
  readonly serviceToken: ServiceToken | undefined;
}

export interface TokenFacts {
  readonly sync: SecretSync;
  readonly source: Source;
  /** The ServiceToken that the source's tokenRef names. */
  readonly named: ServiceToken | undefined;
  /** The ServiceToken that the source would own, whosever it is: see `ownedTokenKeyOf`. */
  readonly beside: ServiceToken | undefined;
}

/** What is to be done to a ServiceToken that a source owns. */
export type TokenStep =
  | { readonly do: 'create' }
  | { readonly do: 'correct'; readonly token: ServiceToken }
  | { readonly do: 'delete'; readonly token: ServiceToken };

export interface TokenDecision {
  readonly step: TokenStep | undefined;
  /** Where the token is after that, or why it cannot be read yet. */
  readonly place: TokenPlace | DomainError;
}

/** The key of the ServiceToken that a source's tokenRef names; undefined where it names none. */
export function namedTokenKeyOf({ metadata: { namespace } }: SecretSync, { tokenRef }: Source): string | undefined {
  return tokenRef === undefined ? undefined : objectKey({ ...spaceOf(namespace), name: tokenRef.name });
}

/** The key of the ServiceToken that a source owns where it names no token: `<SecretSync>-token`, and `-<source>` behind it. */
export function ownedTokenKeyOf({ metadata: { namespace, name } }: SecretSync, source: Pick<Source, 'name'>): string {
  const ending = source.name === undefined ? suffix : `${suffix}-${source.name}`;
  return objectKey({ ...spaceOf(namespace), name: `${name}${ending}` });
}

/**
 * The key of the SecretSync that could own the ServiceToken of this key; undefined where none could. It is the only one,
 * for `token` is no word of a source's name.
 */
export function possibleOwnerOf(tokenKey: string): string | undefined {
  if (tokenKey.endsWith(suffix)) return tokenKey.slice(0, -suffix.length);
  const at = tokenKey.lastIndexOf(`${suffix}-`);
  return at === -1 ? undefined : tokenKey.slice(0, at);
}

const suffix = '-token';

function spaceOf(namespace: string | undefined): { namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

/** The spec of an owned ServiceToken: the whole of it is the SecretSync's. */
export function ownedSpecOf({ environmentRef }: Source): ServiceTokenSpec {
  const { organization, project, name: environment } = environmentRef;
  return { scope: 'Environment', organization, project, environment, permission: 'Read', suspend: false };
}

/** What is due about a source's token. */
export function judgeToken({ sync, source, named, beside }: TokenFacts): TokenDecision {
  const { tokenSecretRef } = source;
  if (ownsToken(source)) return judgeOwned(sync, source, beside);
  if (tokenSecretRef === undefined) return { step: undefined, place: judgeNamed(sync, source, named) };
  const place = { namespace: sync.metadata.namespace ?? '', ...tokenSecretRef, serviceToken: undefined };
  return { step: undefined, place };
}

/**
 * Which of the ServiceTokens that were made for a SecretSync are no longer needed: another way took their place, or their
 * source is gone. One that a tokenRef names stays.
 */
export function needlessTokens(sync: SecretSync, made: readonly ServiceToken[]): readonly ServiceToken[] {
  const sources = sourcesOf(sync);
  const needed = sources.map((source) =>
    ownsToken(source) ? ownedTokenKeyOf(sync, source) : namedTokenKeyOf(sync, source),
  );
  return made.filter((token) => {
    const key = objectKey(token.metadata);
    // Any other name somebody else gave it, with an owner reference that was copied.
    const isMade = isOwn(sync, token) && possibleOwnerOf(key) === objectKey(sync.metadata);
    return isMade && !isLeaving(token) && !needed.includes(key);
  });
}

function ownsToken({ tokenRef, tokenSecretRef }: Source): boolean {
  return tokenRef === undefined && tokenSecretRef === undefined;
}

function judgeNamed(sync: SecretSync, source: Source, named: ServiceToken | undefined): TokenPlace | DomainError {
  if (named === undefined) return missing(source);
  return isLeaving(named) ? leaving(named, source) : placeOf(sync, named);
}

function judgeOwned(sync: SecretSync, source: Source, beside: ServiceToken | undefined): TokenDecision {
  const { name } = parseObjectKey(ownedTokenKeyOf(sync, source));
  if (beside === undefined) return { step: { do: 'create' }, place: unready(name, undefined) };
  if (!isOwn(sync, beside)) {
    return {
      step: undefined,
      place: isPredecessors(sync, beside) ? predecessors(beside) : notOurs({ sync, source }, beside),
    };
  }
  if (isLeaving(beside)) return { step: undefined, place: leaving(beside, undefined) };
  const wanted = ownedSpecOf(source);
  // What the API server never lets change.
  if (!isDeepStrictEqual(fixedPartOf(beside.spec), fixedPartOf(wanted))) {
    return { step: { do: 'delete', token: beside }, place: leaving(beside, undefined) };
  }
  const fits = isDeepStrictEqual({ ...beside.spec }, wanted);
  return { step: fits ? undefined : { do: 'correct', token: beside }, place: placeOf(sync, beside) };
}

function placeOf(sync: SecretSync, serviceToken: ServiceToken): TokenPlace | DomainError {
  const secret = secretOf(serviceToken);
  if (secret.name === targetOf(sync).name) return sameSecret(sync, serviceToken);
  return { ...secret, key: tokenDataKey, serviceToken };
}

function fixedPartOf({ scope, organization, project, environment, secretName }: ServiceTokenSpec): unknown {
  return [scope, organization, project, environment, secretName];
}

/** Whether a ServiceToken was made for just this SecretSync: its controller says so, by the uid. */
function isOwn({ metadata: { uid, namespace } }: SecretSync, { metadata }: ServiceToken): boolean {
  return metadata.namespace === namespace && controllerOf(metadata)?.uid === uid;
}

/** Whether it was made for one of the same name that is no more: the garbage collector takes it. */
function isPredecessors(sync: SecretSync, { metadata }: ServiceToken): boolean {
  return controllerOf(metadata)?.name === sync.metadata.name;
}

function controllerOf({ ownerReferences = [] }: ServiceToken['metadata']): { name: string; uid: string } | undefined {
  const { group, kind } = secretSyncKind;
  return ownerReferences.find(
    (owner) => owner.controller === true && owner.kind === kind && owner.apiVersion.startsWith(`${group}/`),
  );
}

function isLeaving({ metadata: { deletionTimestamp } }: ServiceToken): boolean {
  return deletionTimestamp !== undefined;
}

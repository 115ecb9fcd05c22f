import { isDeepStrictEqual } from 'node:util';
import type { DomainError } from '../../domain/domain-error.ts';
import { secretSyncKind } from '../../kube/keyframe-kinds.ts';
import { type NamespacedName, objectKey } from '../../kube/objects.ts';
import type { SecretSync } from '../generated/secret-sync.ts';
import type { ServiceToken, ServiceTokenSpec } from '../generated/service-token.ts';
import { secretOf, tokenDataKey } from '../service-token/resource.ts';
import { targetOf } from './resource.ts';
import type { Source } from './source.ts';
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
  /** The ServiceToken `<name>-token`, whosever it is. */
  readonly beside: ServiceToken | undefined;
}

/** What is to be done to the ServiceToken `<name>-token`; undefined: nothing. */
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

/** The key of the ServiceToken that a SecretSync owns where it names no token. */
export function ownedTokenKeyOf({ metadata: { namespace, name } }: SecretSync): string {
  return objectKey({ ...spaceOf(namespace), name: `${name}${suffix}` });
}

/** The key of the SecretSync that could own the ServiceToken of this key; undefined where none could. */
export function possibleOwnerOf(tokenKey: string): string | undefined {
  return tokenKey.endsWith(suffix) ? tokenKey.slice(0, -suffix.length) : undefined;
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

/** What is due about a source's token. One that is no longer needed goes, whichever way took its place. */
export function judgeToken({ sync, source, named, beside }: TokenFacts): TokenDecision {
  const { tokenRef, tokenSecretRef } = source;
  if (tokenRef === undefined && tokenSecretRef === undefined) return judgeOwned(sync, source, beside);
  // Where tokenRef names the one that was made for it, that one stays.
  const isNeedless = beside !== undefined && isOwn(sync, beside) && beside.metadata.name !== tokenRef?.name;
  const step: TokenStep | undefined = isNeedless && !isLeaving(beside) ? { do: 'delete', token: beside } : undefined;
  if (tokenSecretRef === undefined) return { step, place: judgeNamed(sync, source, named) };
  const place = { namespace: sync.metadata.namespace ?? '', ...tokenSecretRef, serviceToken: undefined };
  return { step, place };
}

function judgeNamed(sync: SecretSync, source: Source, named: ServiceToken | undefined): TokenPlace | DomainError {
  if (named === undefined) return missing(source);
  return isLeaving(named) ? leaving(named, source) : placeOf(sync, named);
}

function judgeOwned(sync: SecretSync, source: Source, beside: ServiceToken | undefined): TokenDecision {
  const name = `${sync.metadata.name}${suffix}`;
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

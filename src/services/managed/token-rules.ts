import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { isDnsName } from '../../domain/kubernetes-names.ts';
import { limits } from '../../domain/limits.ts';
import type { ResourcePrincipal, TokenScope } from '../../domain/principal.ts';
import type { ResourceCredentialRecord, ResourceTokenRecord } from '../../store/resource-tokens.ts';
import type { AuditTarget } from '../audit/audit-log.ts';
import type { PlaceAccess } from './access.ts';

/** What `ResourceTokens` refuses, judged under its locks. */

type AnyPlace = PlaceAccess<'service_token.create' | 'service_token.resume' | 'service_token.update'>;

/** The scope that an access is for. */
export function scopeOf({ projectId, environmentId }: Pick<AnyPlace, 'projectId' | 'environmentId'>): TokenScope {
  if (projectId === null) return 'organization';
  return environmentId === null ? 'project' : 'environment';
}

/** One serial of a token. */
export function credentialOf(held: ResourceTokenRecord, serial: number): ResourceCredentialRecord | undefined {
  return held.credentials.find((credential) => credential.serial === serial);
}

/** Throws DomainError conflict for a serial that cannot be made, and for a token that has ended. */
export function checkMintable(held: ResourceTokenRecord, access: AnyPlace, serial: number): void {
  checkPlace(held, access);
  if (held.revokedAt !== null) throw revokedToken(held);
  const credential = credentialOf(held, serial);
  const newest = held.credentials.at(-1)?.serial ?? 0;
  if (credential === undefined && serial > newest) return;
  if (credential?.state === 'pending' && credential.revokedAt === null) return;
  throw new DomainError('conflict', `serial ${serial} of ${held.name} is taken; the next one is ${newest + 1}`);
}

/** Throws DomainError conflict for a token that is for another place than the access. */
export function checkPlace(held: ResourceTokenRecord, access: AnyPlace): void {
  const { organizationId, projectId, environmentId } = access;
  if (held.organizationId === organizationId && held.projectId === projectId && held.environmentId === environmentId) {
    return;
  }
  throw new DomainError(
    'conflict',
    `the token ${held.name} is for another place; delete the resource and create it again`,
  );
}

/** The claim `sub` of JWTs of ServiceAccounts in a resource's namespace. Throws DomainError invalid_input. */
export function subjectsOf({ namespace }: ResourcePrincipal, serviceAccountNames: readonly string[]): string[] {
  const max = limits.serviceAccountsPerToken;
  if (namespace === null || serviceAccountNames.length < 1 || serviceAccountNames.length > max) {
    throw invalidField('serviceAccountNames', `must be 1 to ${max} names of ServiceAccounts in a namespace`);
  }
  for (const [index, name] of serviceAccountNames.entries()) {
    if (!isDnsName(name)) throw invalidField(`serviceAccountNames.${index}`, 'must be the name of a ServiceAccount');
  }
  return serviceAccountNames.map((name) => `system:serviceaccount:${namespace}:${name}`);
}

/** DomainError issuer_unknown for a cluster whose issuer no controller has reported. */
export function issuerUnknown({ cluster }: ResourcePrincipal): DomainError {
  return new DomainError(
    'issuer_unknown',
    `the controller of cluster ${cluster} has not reported yet who signs its ServiceAccount tokens; it does so within a ` +
      'minute, or warns in its log and in /readyz why it cannot',
  );
}

/** DomainError conflict for a resource whose name a later one has. */
export function laterResource({ name }: ResourcePrincipal): DomainError {
  return new DomainError('conflict', `${name} was created again later, and JWTs prove the token of the later one`);
}

/** DomainError conflict for a token that has ended. */
export function revokedToken({ name }: ResourceTokenRecord): DomainError {
  return new DomainError('conflict', `the token ${name} was revoked for good; delete the resource and create it again`);
}

/** What the audit says of a token. */
export function targetOf(token: ResourceTokenRecord | undefined): AuditTarget {
  return token === undefined ? {} : { serviceTokenId: token.tokenId, name: token.name };
}

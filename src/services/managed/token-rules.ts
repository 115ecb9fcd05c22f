import { DomainError } from '../../domain/errors/domain-error.ts';
import type { TokenScope } from '../../domain/principal.ts';
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

/** DomainError conflict for a token that has ended. */
export function revokedToken({ name }: ResourceTokenRecord): DomainError {
  return new DomainError('conflict', `the token ${name} was revoked for good; delete the resource and create it again`);
}

/** What the audit says of a token. */
export function targetOf(token: ResourceTokenRecord | undefined): AuditTarget {
  return token === undefined ? {} : { serviceTokenId: token.tokenId, name: token.name };
}

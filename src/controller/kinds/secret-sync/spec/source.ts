import { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { SecretSync, SecretSyncSpec } from '../../../generated/secret-sync.ts';

/** One environment that a SecretSync reads: with which token, at which state, and which of its keys. */
export interface Source extends Pick<
  SecretSyncSpec,
  'tokenRef' | 'tokenSecretRef' | 'snapshotRef' | 'revision' | 'keys'
> {
  /** Undefined for the one source of a SecretSync whose spec is its source itself. */
  readonly name: string | undefined;
  readonly environmentRef: NonNullable<SecretSyncSpec['environmentRef']>;
}

/** What a SecretSync reads, in the order of its precedence: a later source's key wins over an earlier one's. */
export function sourcesOf({ spec }: SecretSync): readonly Source[] {
  const { environmentRef, sources = [] } = spec;
  return environmentRef === undefined ? sources : [{ ...spec, environmentRef, name: undefined }];
}

/** `organization/project/name` of a source's environment, for people. */
export function environmentPath({ environmentRef }: Source): string {
  return `${environmentRef.organization}/${environmentRef.project}/${environmentRef.name}`;
}

/** Where a field of a source stands in the spec, for people. */
export function fieldOf({ name }: Pick<Source, 'name'>, field: string): string {
  return name === undefined ? `spec.${field}` : `spec.sources[${name}].${field}`;
}

/** Where the rules for keys stand in a spec, for people. */
export function keysFieldOf(sources: readonly Pick<Source, 'name'>[]): string {
  return sources.some(({ name }) => name !== undefined) ? 'spec.sources[].keys' : 'spec.keys';
}

/** An error as that of one source, which the message then names; the same where the source has no name. */
export function inSource({ name }: Pick<Source, 'name'>, error: DomainError): DomainError {
  if (name === undefined) return error;
  const { code, detail, fields, cause } = error;
  return new DomainError(code, `Source ${name}: ${detail}`, { fields, cause });
}

import { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { SecretSync, SecretSyncSpec } from '../../../generated/secret-sync.ts';
import type { NamesEnvironment } from '../../../environment-ref.ts';

/** One environment that a SecretSync reads, with its token, its state and its keys. */
export interface Source
  extends NamesEnvironment, Pick<SecretSyncSpec, 'tokenRef' | 'tokenSecretRef' | 'snapshotRef' | 'revision' | 'keys'> {
  /** Undefined for the only source of a SecretSync without spec.sources. */
  readonly name: string | undefined;
}

/** The sources of a SecretSync in order of precedence: the key of a later source wins. */
export function sourcesOf({ spec }: SecretSync): readonly Source[] {
  const { environmentRef, sources = [] } = spec;
  return environmentRef === undefined ? sources : [{ ...spec, environmentRef, name: undefined }];
}

/** The path of a source's field in the spec, for messages. */
export function fieldOf({ name }: Pick<Source, 'name'>, field: string): string {
  return name === undefined ? `spec.${field}` : `spec.sources[${name}].${field}`;
}

/** The path of the rules for keys in the spec, for messages. */
export function keysFieldOf(sources: readonly Pick<Source, 'name'>[]): string {
  return sources.some(({ name }) => name !== undefined) ? 'spec.sources[].keys' : 'spec.keys';
}

/** An error of one source, which the message names; unchanged if the source has no name. */
export function inSource({ name }: Pick<Source, 'name'>, error: DomainError): DomainError {
  if (name === undefined) return error;
  const { code, detail, fields, cause } = error;
  return new DomainError(code, `Source ${name}: ${detail}`, { fields, cause });
}

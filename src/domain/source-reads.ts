import type { Asker } from './asker.ts';
import type { KeyRules } from './chosen-keys.ts';
import type { SeenRules } from './cluster-ceiling.ts';
import type { RefusalFault } from './credential-faults.ts';
import type { DomainError } from './errors/domain-error.ts';
import type { Plaintext } from './plaintext.ts';
import type { FoundState, LargerState, StateRef } from './secret-states.ts';
import type { EnvironmentSlugs } from './slugs.ts';

/** What the services and the controller say to each other about the sources of SecretSyncs. */

/** `keyless`: the grants of the namespace. Otherwise a token; undefined if the source has none now. */
export type SourceCredential = 'keyless' | { readonly token: Plaintext | undefined };

/** One source of a SecretSync. */
export interface SourceIdentity {
  /** Undefined for the only source of a SecretSync without spec.sources. */
  readonly name: string | undefined;
  readonly slugs: EnvironmentSlugs;
  readonly credential: SourceCredential;
}

/** A past state, by the number or the id of its revision. */
export interface AskedRevision {
  readonly revision: number | string;
  /** Whether to name the keys that were deleted after it. */
  readonly deletedSince?: boolean;
}

/** `later`: only the access to the environment is asked for now, because the state is not known yet. */
export type AskedState = 'newest' | 'later' | AskedRevision;

export interface AskedSource extends SourceIdentity {
  readonly state: AskedState;
  /** The environment that the Secret holds data of for this source and these slugs, by its record. */
  readonly recordedId: string | undefined;
}

/** All sources of a SecretSync, in the order of the spec. */
export interface SourcesQuestion {
  readonly asker: Asker<'SecretSync'>;
  readonly sources: readonly AskedSource[];
  /** How many keys of each state the caller has memory for. */
  readonly maxKeys: number;
  /** Which values the Secret needs. An answer over the network has them too, if they fit. */
  readonly selection?: ValueSelection | undefined;
}

/** The values that a Secret needs, before the keys of its sources are known. */
export interface ValueSelection {
  /** The rules of each source, in their order. */
  readonly rules: readonly KeyRules[];
  /** The names that templates use. */
  readonly templateNames: readonly string[];
  /** How many bytes of values the caller has memory for. */
  readonly maxBytes: number;
}

/** The service token that a source reads with. */
export interface SourceToken {
  readonly id: string;
  /** Null for the keyless token of the namespace. */
  readonly credentialId: string | null;
  /** Null if it does not expire. */
  readonly expiresAt: Date | null;
}

/** What was found of a source; undefined for what the read did not come to. */
export interface ReadSource {
  readonly token: SourceToken | undefined;
  readonly environmentId: string | undefined;
  /** The newest revision of the environment when access was given. */
  readonly head: { readonly revision: number; readonly revisionId: string } | undefined;
  /** What the organization allows the cluster. */
  readonly clusterRules: SeenRules | undefined;
  /** Also undefined for a revision above the newest one. */
  readonly state: FoundState | LargerState | undefined;
  /** The values of the selection, whose read is in the audit; undefined if they must be asked for. */
  readonly values?: ReadonlyMap<string, Plaintext> | undefined;
}

/** `personal`: the token is valid, and belongs to a user. */
export type SourceFault = RefusalFault | 'personal';

/** Why a source was not read. The sources after it have passed one step less. */
export interface SourceRefusal {
  /** The place of the source in the question. */
  readonly source: number;
  readonly step: ReadStep;
  readonly error: DomainError;
  /** Why its token was refused. */
  readonly fault: SourceFault | undefined;
  /** The service token that was refused, if it is known. */
  readonly tokenId: string | undefined;
  /** The environment that the refused keyless token is for. */
  readonly environmentId: string | undefined;
}

/** The steps of a read. Each one is done for all sources before the next one begins. */
export type ReadStep = 'token' | 'environment' | 'state';

export interface SourcesAnswer {
  /** In the order of the question. */
  readonly sources: readonly ReadSource[];
  /** Whether nothing was created and found because one of the environments is not the recorded one. */
  readonly isReplaced: boolean;
  readonly refusal: SourceRefusal | undefined;
}

/** A source that a read gave access to. */
export interface AdmittedSource extends SourceIdentity {
  readonly asker: Asker<'SecretSync'>;
  readonly tokenId: string;
  readonly environmentId: string;
}

export interface RevisionQuestion {
  readonly source: AdmittedSource;
  readonly state: AskedRevision;
  readonly maxKeys: number;
}

export interface ValuesQuestion {
  readonly source: AdmittedSource;
  readonly state: StateRef;
  /** Without any, only the read of the names is audited. */
  readonly keys: readonly string[];
}

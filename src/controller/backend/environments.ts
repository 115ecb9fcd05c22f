import type { Asker } from '../../domain/asker.ts';
import type {
  EnsuredEnvironment,
  EnsureEnvironmentInput,
  EnvironmentOrGone,
  FirstOwnersInput,
} from '../../domain/resources/environments.ts';

/** The environments of SecretEnvironments, which need no grant. All throw DomainError store_unavailable. */
export interface EnvironmentsBackend {
  /**
   * Creates what is missing of an organization, a project and an environment, and sets the environment's display name.
   * Throws DomainError invalid_input, and conflict for a slug of something deleted.
   */
  readonly ensure: (asker: Asker, input: EnsureEnvironmentInput) => Promise<EnsuredEnvironment>;
  /**
   * Appoints all of these users owners of an organization that has none, or none of them. Throws DomainError not_found for
   * users who do not exist or are disabled, and conflict for a user as whom others can sign in.
   */
  readonly appointOwners: (asker: Asker, input: FirstOwnersInput) => Promise<void>;
  /** The environment that the resource created; undefined if it created none. */
  readonly find: (asker: Asker) => Promise<EnvironmentOrGone | undefined>;
  /** Deletes, softly, the environment that the resource created, if any. */
  readonly delete: (asker: Asker) => Promise<void>;
}

import type { ClusterState, SeenRules } from '../../../src/domain/cluster-ceiling.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';

/** What the one organization of the tests allows the cluster: everything, or nothing. */
export class FakeRules {
  state: ClusterState = 'enabled';
  #isAllowed = true;
  #version = 0;

  get seen(): SeenRules {
    return { organizationId: 'acme-id', version: this.#version };
  }

  set(isAllowed: boolean): void {
    this.#isAllowed = isAllowed;
    this.#version += 1;
  }

  /** Throws DomainError cluster_disabled and cluster_not_allowed. */
  judge(): void {
    if (this.state !== 'enabled') throw new DomainError('cluster_disabled', 'cluster test is disabled');
    if (!this.#isAllowed) throw new DomainError('cluster_not_allowed', 'the organization does not allow it');
  }
}

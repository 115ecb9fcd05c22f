import type { SnapshotsBackend } from '../../../src/controller/backend/snapshots.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { ClaimedSnapshot, SnapshotOrGone } from '../../../src/domain/resources/snapshots.ts';

/** What the resources of these tests took or adopted, by their uids. Nothing new is granted. */
export class FakeSnapshots {
  readonly claims = new Map<string, SnapshotOrGone>();
  /** Thrown by each look-up while it is set. */
  fault: DomainError | undefined;
  /** Runs once at the next look-up, after the claim was taken and before it is answered. */
  duringFind: (() => void) | undefined;
  /** Called before each look-up takes the claim, and before it answers. */
  onStep: ((step: string) => void | Promise<void>) | undefined;

  /** As the controllers call it. */
  get backend(): SnapshotsBackend {
    const refuse = (): Promise<never> => Promise.reject(new DomainError('forbidden', 'no AccessGrant allows it'));
    return {
      find: async ({ uid }) => {
        await this.onStep?.('before finding a snapshot');
        if (this.fault !== undefined) throw this.fault;
        const found = await Promise.resolve(this.claims.get(uid));
        const hook = this.duringFind;
        this.duringFind = undefined;
        hook?.();
        await this.onStep?.('after finding a snapshot');
        return found;
      },
      take: refuse,
      adopt: refuse,
      delete: () => Promise.resolve(),
    };
  }
}

/** A snapshot of acme/web/prod, which FakeServices know as `env`, at a revision. */
export function claimedSnapshot(revision: number, more: Partial<ClaimedSnapshot> = {}): ClaimedSnapshot {
  return {
    id: `snapshot-${revision}`,
    createdAt: new Date(0),
    secretCount: 1,
    revision,
    revisionId: `env-r${revision}`,
    adopted: false,
    environmentId: 'env',
    organization: 'acme',
    project: 'web',
    environment: 'prod',
    environmentDeleted: false,
    digest: '0'.repeat(64),
    ...more,
  };
}

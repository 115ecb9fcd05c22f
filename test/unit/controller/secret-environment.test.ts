import { beforeEach, describe, expect, test } from '@jest/globals';
import { Seen } from '../../../src/controller/frame/dependencies.ts';
import type { Outcome } from '../../../src/controller/frame/outcome.ts';
import type { SecretEnvironment, SecretEnvironmentSpec } from '../../../src/controller/generated/secret-environment.ts';
import type { EnvironmentsBackend } from '../../../src/controller/backend/environments.ts';
import { EnvironmentReconciler } from '../../../src/controller/kinds/secret-environment/reconcile.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';

/** What one reconcile of a SecretEnvironment asks of the backend. Its status is in secret-environment-judge.test.ts. */

const owners = ['ann@example.com'];

/** The SecretEnvironment prod of acme/web/prod. */
class Site {
  hasOwner = false;
  /** Thrown by the appointment of owners. */
  fault: DomainError | undefined;
  /** Thrown by the environment. */
  conflict: DomainError | undefined;
  appointed = 0;
  seen = new Seen();
  readonly #reconciler = new EnvironmentReconciler({
    backend: { environments: this.#backend },
    grants: { rulesFor: () => [], ownGrantOf: () => undefined },
  });

  async reconcile(spec: Partial<SecretEnvironmentSpec> = {}): Promise<Outcome<SecretEnvironment>> {
    const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
    const metadata = { name: 'prod', uid: 'uid', resourceVersion: '1' };
    const resource = {
      metadata,
      spec: { environmentRef, deletionPolicy: 'Retain', suspend: false, ...spec },
    } as SecretEnvironment;
    this.seen = new Seen();
    const context = { key: '/prod', resource, requestId: 'request', seen: this.seen, isForced: false };
    return await this.#reconciler.reconcile(context);
  }

  get #backend(): EnvironmentsBackend {
    const ensured = { environmentId: 'env', revision: 1, revisionId: 'revision-1', secretCount: 0, created: false };
    return {
      ensure: () =>
        this.conflict === undefined
          ? Promise.resolve({ ...ensured, hasOwner: this.hasOwner })
          : Promise.reject(this.conflict),
      appointOwners: () => {
        this.appointed += 1;
        return this.fault === undefined ? Promise.resolve() : Promise.reject(this.fault);
      },
      find: () => Promise.resolve(undefined),
      delete: () => Promise.resolve(),
      handOver: () => Promise.resolve(),
    };
  }
}

let site: Site;

beforeEach(() => {
  site = new Site();
});

describe('a SecretEnvironment', () => {
  test('appoints the owners that it names if the organization has none', async () => {
    expect((await site.reconcile({ owners })).claim.reason).toBe('Available');
    expect(site.appointed).toBe(1);
  });

  test('leaves the owners of an organization alone', async () => {
    site.hasOwner = true;
    expect((await site.reconcile({ owners })).claim.reason).toBe('Available');
    expect(site.appointed).toBe(0);
  });

  test('tries again for owners who are no users yet', async () => {
    site.fault = new DomainError('not_found', 'there is no such user');
    expect(await site.reconcile({ owners })).toMatchObject({
      next: { kind: 'retry' },
      fields: { environmentId: 'env' },
    });
  });

  test('for a slug that is taken waits for what can free it', async () => {
    site.conflict = new DomainError('conflict', 'something deleted has the slug');
    expect((await site.reconcile()).claim.reason).toBe('SlugTaken');
    expect([...site.seen.dependencies.values()].map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['slugs', 'environments']),
    );
  });
});

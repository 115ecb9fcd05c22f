import { beforeEach, describe, expect, test } from '@jest/globals';
import { Seen, staleEvents } from '../../../src/controller/frame/dependencies.ts';
import { EventLog } from '../../../src/controller/frame/event-log.ts';
import type { ReconcileContext } from '../../../src/controller/frame/kind-rules.ts';
import type { Outcome } from '../../../src/controller/frame/outcome.ts';
import type { SecretEnvironment, SecretEnvironmentSpec } from '../../../src/controller/generated/secret-environment.ts';
import type { EnvironmentsBackend } from '../../../src/controller/backend/environments.ts';
import { NamedEnvironments } from '../../../src/controller/kinds/secret-environment/naming.ts';
import { EnvironmentReconciler } from '../../../src/controller/kinds/secret-environment/reconcile.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { EnsureEnvironmentInput } from '../../../src/domain/resources/environments.ts';
import { type ObjectMeta, objectKey } from '../../../src/kube/client/objects.ts';

/** What one reconcile of a SecretEnvironment asks of the backend. Its status is in secret-environment-judge.test.ts. */

const owners = ['ann@example.com'];
const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
const slugs = { organization: 'acme', project: 'web', environment: 'prod' };
const finalizers = ['keyframe.dev/cleanup'];

/** A SecretEnvironment that names acme/web/prod, with the policy Delete. Its uid is `uid-` and its name. */
function named(
  name: string,
  metadata: Partial<ObjectMeta> = {},
  spec: Partial<SecretEnvironmentSpec> = {},
): SecretEnvironment {
  return {
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1', finalizers, ...metadata },
    spec: { environmentRef, deletionPolicy: 'Delete', suspend: false, ...spec },
  } as SecretEnvironment;
}

/** The SecretEnvironment prod of acme/web/prod. */
class Site {
  hasOwner = false;
  /** Thrown by the appointment of owners. */
  fault: DomainError | undefined;
  /** Thrown by the environment. */
  conflict: DomainError | undefined;
  appointed = 0;
  seen = new Seen();
  /** The SecretEnvironments of the cluster, as the watch shows them. */
  readonly watched = new Map<string, SecretEnvironment>();
  /** The ends of resources, as the backend was asked for them. */
  readonly ends: object[] = [];
  readonly enqueued: string[] = [];
  /** What the last ensuring asked for. */
  wanted: EnsureEnvironmentInput | undefined;
  /** The uid of the resource that decides the display name. */
  namer: string | undefined;
  readonly #events = new EventLog();
  /** Thrown once by the next handing over. */
  refusal: DomainError | undefined;
  readonly #named = new NamedEnvironments((key) => this.watched.get(key), this.#events);
  readonly #reconciler = new EnvironmentReconciler({
    backend: { environments: this.#backend },
    grants: { rulesFor: () => [], ownGrantOf: () => undefined },
    at: (place) => this.#named.at(place),
    enqueue: (key) => void this.enqueued.push(key),
  });

  async reconcile(spec: Partial<SecretEnvironmentSpec> = {}): Promise<Outcome<SecretEnvironment>> {
    const resource = named('prod', {}, { deletionPolicy: 'Retain', ...spec });
    this.watch(resource);
    return await this.#reconciler.reconcile(this.#contextOf(resource));
  }

  watch(...resources: readonly SecretEnvironment[]): void {
    for (const resource of resources) {
      this.watched.set(objectKey(resource.metadata), resource);
      this.#named.seen(resource);
    }
  }

  /** The events of an act that make the last result stale. */
  eventsOf(act: () => void): readonly object[] {
    const { position } = this.#events;
    act();
    return staleEvents(this.seen.dependencies, this.#events.since(position) ?? []);
  }

  lose(resource: SecretEnvironment): void {
    this.watched.delete(objectKey(resource.metadata));
    this.#named.gone(resource);
  }

  /** Cleans up after the resource `prod`, beside these others. */
  async cleanup(...others: readonly SecretEnvironment[]): Promise<void> {
    const deleted = named('prod', { deletionTimestamp: '2026-11-29T12:00:00Z' });
    for (const former of this.watched.values()) this.lose(former);
    this.watch(deleted, ...others);
    await this.#reconciler.cleanup(this.#contextOf(deleted));
  }

  #contextOf(resource: SecretEnvironment): ReconcileContext<SecretEnvironment> {
    this.seen = new Seen();
    return { key: '/prod', resource, requestId: 'request', seen: this.seen, isForced: false };
  }

  get #backend(): EnvironmentsBackend {
    const ensured = { environmentId: 'env', revision: 1, revisionId: 'revision-1', secretCount: 0, created: false };
    return {
      ensure: (_asker, wanted) => {
        this.wanted = wanted;
        return this.conflict === undefined
          ? Promise.resolve({ ...ensured, hasOwner: this.hasOwner, namer: this.namer })
          : Promise.reject(this.conflict);
      },
      appointOwners: () => {
        this.appointed += 1;
        return this.fault === undefined ? Promise.resolve() : Promise.reject(this.fault);
      },
      find: () => Promise.resolve(undefined),
      delete: (_asker, deleted) => {
        this.ends.push({ deleted });
        return Promise.resolve();
      },
      handOver: (_asker, { successor, ...handed }) => {
        const { refusal } = this;
        this.refusal = undefined;
        if (refusal !== undefined) return Promise.reject(refusal);
        this.ends.push({ handed, successor });
        return Promise.resolve();
      },
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

describe('the display name of an environment', () => {
  const displayName = 'Production';
  const other = named('blue-prod', {}, { displayName: 'Blue' });
  const ignored = 'SecretEnvironment blue-prod decides the display name';

  test('has as its namers all that set one, the oldest first', async () => {
    const at = (second: number): Partial<ObjectMeta> => ({ creationTimestamp: `2026-11-29T12:00:0${second}Z` });
    site.watch(
      named('d', at(3), { displayName, suspend: true }),
      named('a', { ...at(2), uid: 'uid-z' }, { displayName }),
      named('c', { ...at(2), deletionTimestamp: '2026-11-29T13:00:00Z' }, { displayName }),
      named('unnamed', at(1)),
      named('elsewhere', at(1), { displayName, environmentRef: { ...environmentRef, name: 'stage' } }),
    );
    await site.reconcile({ displayName });
    expect(site.wanted).toEqual({ ...slugs, displayName, namers: ['uid-prod', 'uid-c', 'uid-z', 'uid-d'] });
  });

  test('that another one decides is reported with its name', async () => {
    site.watch(other);
    site.namer = 'uid-blue-prod';
    const { claim } = await site.reconcile({ displayName });
    expect(claim).toMatchObject({ progress: 'done', message: expect.stringContaining(ignored) });
  });

  test.each([
    ['that this resource decides', 'uid-prod', { displayName }],
    ['that another one decides, with the same name', 'uid-blue-prod', { displayName: 'Blue' }],
    ['that this resource does not set', undefined, {}],
  ])('%s is not reported', async (_what, namer, spec) => {
    site.watch(other);
    site.namer = namer;
    const { claim } = await site.reconcile(spec);
    expect(claim.message).toBe('Environment acme/web/prod exists.');
  });

  test.each([
    ['appears', () => site.watch(named('green-prod', {}, { displayName }))],
    ['sets another name', () => site.watch(named('blue-prod', {}, { displayName }))],
    ['no longer sets one', () => site.watch(named('blue-prod'))],
    ['is gone', () => site.lose(other)],
  ])('is judged again if one of its namers %s', async (_what, act) => {
    site.watch(other);
    await site.reconcile({ displayName });
    expect(site.eventsOf(act)).toHaveLength(1);
  });

  test('is not judged again for another status of its namers', async () => {
    site.watch(other);
    await site.reconcile({ displayName });
    expect(site.eventsOf(() => site.watch({ ...other, status: { secretCount: 1 } }))).toEqual([]);
  });
});

describe('the cleanup of a SecretEnvironment', () => {
  const handedTo = (name: string): object[] => [{ handed: slugs, successor: { name, uid: `uid-${name}` } }];
  const retaining = { deletionPolicy: 'Retain' } as const;

  test('deletes its environment if no other resource names it', async () => {
    await site.cleanup(named('other', {}, { environmentRef: { ...environmentRef, name: 'stage' } }));
    expect(site.ends).toEqual([{ deleted: slugs }]);
    expect(site.enqueued).toEqual([]);
  });

  test('deletes its environment if the others that name it are deleted too', async () => {
    await site.cleanup(named('blue-prod', { deletionTimestamp: '2026-11-29T12:00:00Z' }));
    expect(site.ends).toEqual([{ deleted: slugs }]);
  });

  test.each([
    ['with the policy Delete', {}, {}],
    ['with the policy Retain', { finalizers: [] }, retaining],
    ['that is suspended', {}, { suspend: true }],
  ])('hands its environment over to another one %s, and has it reconciled', async (_what, metadata, spec) => {
    await site.cleanup(named('blue-prod', metadata, spec));
    expect(site.ends).toEqual(handedTo('blue-prod'));
    expect(site.enqueued).toEqual(['/blue-prod']);
  });

  test.each([
    ['one that can hand it on', named('a', {}, retaining), named('b')],
    ['one that has its finalizer', named('a', { finalizers: [] }), named('b')],
    [
      'the oldest one',
      named('a', { creationTimestamp: '2026-11-29T12:00:01Z' }),
      named('b', { creationTimestamp: '2026-11-29T12:00:00Z' }),
    ],
  ])('prefers %s', async (_what, other, preferred) => {
    await site.cleanup(other, preferred);
    await site.cleanup(preferred, other);
    expect(site.ends).toEqual([...handedTo('b'), ...handedTo('b')]);
  });

  test('waits until the other one has its finalizer', async () => {
    const failure = site.cleanup(named('blue-prod', { finalizers: [] }));
    await expect(failure).rejects.toMatchObject({ code: 'conflict', detail: expect.stringContaining('blue-prod') });
    expect(site.ends).toEqual([]);
    await site.cleanup(named('blue-prod'));
    expect(site.ends).toEqual(handedTo('blue-prod'));
  });

  test('fails if the other one has ended meanwhile, and then judges again', async () => {
    const refusal = new DomainError('conflict', 'it has ended');
    site.refusal = refusal;
    await expect(site.cleanup(named('blue-prod'))).rejects.toBe(refusal);
    expect([site.ends, site.enqueued]).toEqual([[], []]);
    await site.cleanup();
    expect(site.ends).toEqual([{ deleted: slugs }]);
  });
});

import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '../../../kube/client/client.ts';
import { objectKey } from '../../../kube/client/objects.ts';
import type { Clock } from '../../../lib/clock.ts';
import { allowDeletionAnnotation } from '../../annotations.ts';
import type { ReconcileContext } from '../../frame/kind-rules.ts';
import type { Namespaces } from '../../frame/namespaces.ts';
import type { DeferredOutcome, Outcome } from '../../frame/outcome.ts';
import type { Next } from '../../frame/work-queue.ts';
import type { ClusterSecretSync } from '../../generated/cluster-secret-sync.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { childPatch } from './child.ts';
import type { Children } from './children.ts';
import { childrenRepaired, suspended } from './messages.ts';
import { type Findings, fieldsOf, outcomeOf } from './outcome.ts';
import { type Fits, type NamespaceFacts, type Plan, type Write, planFor } from './plan.ts';
import type { RefusedNamespaces } from './refused-namespaces.ts';
import { type RemovalRecord, type RemovalVerdict, judgeRemoval } from './removal.ts';
import { isSelected } from './selection.ts';
import { Settling } from './settling.ts';
import { type WriteResult, applyWrites } from './writes.ts';

export interface ClusterSyncReconcilerDeps {
  readonly client: Pick<KubeClient, 'request'>;
  readonly clock: Clock;
  readonly namespaces: Pick<Namespaces, 'all'>;
  /** Empty for all namespaces. */
  readonly watchNamespaces: readonly string[];
  readonly children: Children;
  readonly refused: RefusedNamespaces;
  /** The removal in a ClusterSecretSync's status, as the watch shows it. Own writes count only once the watch shows them. */
  readonly recordedRemoval: (key: string) => RemovalRecord | undefined;
  /** Called with a sentence about SecretSyncs that another client had changed or deleted, and that match the template again. */
  readonly onRepaired: (parent: ClusterSecretSync, note: string) => void;
}

type ClusterSyncContext = ReconcileContext<ClusterSecretSync>;

// The rest follows in the next pass, so that a large selection does not delay other resources.
const maxWrites = 100;
const passIntervalMs = 10;
const minReportIntervalMs = 1000;
const recordPollMs = 100;

/** Gives every selected namespace the SecretSync of a ClusterSecretSync, and removes it from all others. */
export class ClusterSyncReconciler {
  readonly #deps: ClusterSyncReconcilerDeps;
  readonly #settling: Settling;
  /** When the status of each was reported last. */
  readonly #reportedAt = new Map<string, number>();
  /** The `uid/generation` of the ClusterSecretSync whose template each SecretSync matches. */
  readonly #fitting = new WeakMap<SecretSync, string>();
  /** The namespaces of each ClusterSecretSync whose SecretSync matched its template when it was last observed. */
  readonly #matched = new Map<string, Matched>();

  constructor(deps: ClusterSyncReconcilerDeps) {
    this.#deps = deps;
    this.#settling = new Settling(deps.clock);
  }

  /** One pass: at most 100 writes. Throws ApiError. */
  async reconcile(context: ClusterSyncContext): Promise<Outcome<ClusterSecretSync> | DeferredOutcome> {
    const { key, resource: parent, isForced } = context;
    if (isForced) this.#deps.refused.forget(key);
    const before = this.#observe(context);
    if (before.removal.verdict === 'consented' && !this.#isRecorded(key, before.removal.record)) {
      return this.#reported(key, outcomeOf(parent, before), { kind: 'after', delayMs: recordPollMs });
    }
    const isOutdated = await this.#write(context, before);
    const after = this.#observe(context);
    const hasMore = after.plan.writes.length + removalsOf(after).length > 0;
    return this.#reported(key, outcomeOf(parent, after), this.#next(key, after, { hasMore, isOutdated }));
  }

  /** What a suspended ClusterSecretSync reports: the state of its namespaces. */
  suspended(context: ClusterSyncContext): Outcome<ClusterSecretSync> {
    const { removal: _, usedConsent: __, ...fields } = fieldsOf(context.resource, this.#observe(context));
    return { claim: { progress: 'suspended', reason: 'Suspended', message: suspended }, fields };
  }

  /** Drops what is known of a deleted ClusterSecretSync. */
  forget(key: string): void {
    this.#reportedAt.delete(key);
    this.#deps.refused.forget(key);
    this.#settling.forget(key);
    this.#matched.delete(key);
  }

  #observe({ key, resource: parent }: ClusterSyncContext): Findings {
    const { facts, unwatched } = this.#facts(key, parent);
    const plan = planFor(parent, facts, this.#fits(parent));
    this.#noteMatched(key, parent, plan);
    return { plan, unwatched, removal: this.#judge(key, parent, plan) };
  }

  /** A namespace whose SecretSync has to be written keeps its place: it matched, and another client is the cause. */
  #noteMatched(key: string, parent: ClusterSecretSync, { selected, writes, blocked }: Plan): void {
    const version = versionOf(parent);
    const known = this.#matched.get(key);
    const before = known?.version === version ? known.namespaces : new Set<string>();
    const differing = new Set([...writes, ...blocked].map(({ namespace }) => namespace));
    const namespaces = new Set(selected.filter((namespace) => !differing.has(namespace) || before.has(namespace)));
    this.#matched.set(key, { version, namespaces });
  }

  /** What is known of each namespace, sorted by name. */
  #facts(key: string, parent: ClusterSecretSync): { facts: NamespaceFacts[]; unwatched: number } {
    const { namespaces, watchNamespaces, children, refused } = this.#deps;
    const { name, generation = 0 } = parent.metadata;
    const present = [...namespaces.all()].filter(({ isEnding }) => !isEnding);
    const isWatched = (namespace: string): boolean =>
      watchNamespaces.length === 0 || watchNamespaces.includes(namespace);
    const facts = present.flatMap((state): NamespaceFacts[] => {
      const { name: namespace } = state;
      if (!isWatched(namespace)) return [];
      const refusal = refused.reasonOf(key, namespace, generation);
      const child = children.find(objectKey({ namespace, name }));
      return [{ namespace, isSelected: isSelected(parent.spec, state), present: child, refusal }];
    });
    const unwatched = present.filter((state) => !isWatched(state.name) && isSelected(parent.spec, state)).length;
    return { facts: facts.sort((a, b) => (a.namespace < b.namespace ? -1 : 1)), unwatched };
  }

  #fits(parent: ClusterSecretSync): Fits {
    const version = versionOf(parent);
    return (present) => {
      if (this.#fitting.get(present) === version) return true;
      if (childPatch(parent, present) !== undefined) return false;
      this.#fitting.set(present, version);
      return true;
    };
  }

  #judge(key: string, { metadata, spec, status }: ClusterSecretSync, plan: Plan): RemovalVerdict {
    const consent = metadata.annotations?.[allowDeletionAnnotation];
    const { removal: record, usedConsent } = status ?? {};
    const removal = judgeRemoval(plan, { limit: spec.maxRemovedNamespaces, consent, record, usedConsent });
    const waitMs = this.#settling.note(key, plan.lost);
    return removal.verdict === 'allowed' && waitMs > 0 ? { verdict: 'settling', waitMs } : removal;
  }

  /** Whether the API server has the record. A removal needs it first: a process that stops halfway leaves the consent behind. */
  #isRecorded(key: string, record: RemovalRecord): boolean {
    return isDeepStrictEqual(this.#deps.recordedRemoval(key), record);
  }

  /** Returns whether a SecretSync had changed since it was judged. */
  async #write({ key, resource: parent }: ClusterSyncContext, findings: Findings): Promise<boolean> {
    const { refused } = this.#deps;
    const { generation = 0 } = parent.metadata;
    const writes = [...findings.plan.writes, ...removalsOf(findings)].slice(0, maxWrites);
    const matched = this.#matched.get(key)?.namespaces;
    const repaired: string[] = [];
    let isOutdated = false;
    await applyWrites(this.#deps, parent, writes, ({ do: operation, namespace }: Write, result: WriteResult) => {
      if (operation === 'remove' && result === 'done') this.#settling.removed(key, namespace);
      if (result === 'refused') refused.note(key, namespace, generation);
      if (result === 'outdated') isOutdated = true;
      if (result === 'done' && matched?.has(namespace) === true) repaired.push(namespace);
    });
    if (repaired.length > 0) this.#deps.onRepaired(parent, childrenRepaired(repaired));
    return isOutdated;
  }

  #next(key: string, { removal }: Findings, { hasMore, isOutdated }: Progress): Next {
    if (isOutdated) return { kind: 'retry' };
    if (hasMore) return { kind: 'after', delayMs: passIntervalMs };
    const { refused, children } = this.#deps;
    const settlesInMs = removal.verdict === 'settling' ? removal.waitMs : undefined;
    const delays = [settlesInMs, refused.untilNextTry(key), children.untilExpiry()];
    const delayMs = Math.min(...delays.map((delay) => delay ?? Infinity));
    return delayMs === Infinity ? { kind: 'done' } : { kind: 'after', delayMs };
  }

  /** An outcome, or nothing yet if the last one was reported less than a second ago. */
  #reported(
    key: string,
    outcome: Outcome<ClusterSecretSync>,
    next: Next,
  ): Outcome<ClusterSecretSync> | DeferredOutcome {
    const now = this.#deps.clock.now();
    const waitMs = (this.#reportedAt.get(key) ?? -Infinity) + minReportIntervalMs - now;
    if (waitMs <= 0) {
      this.#reportedAt.set(key, now);
      return { ...outcome, next };
    }
    const isSooner = next.kind === 'retry' || (next.kind === 'after' && next.delayMs < waitMs);
    return { isDeferred: true, next: isSooner ? next : { kind: 'after', delayMs: waitMs } };
  }
}

interface Matched {
  /** What the SecretSyncs matched. */
  readonly version: string;
  readonly namespaces: ReadonlySet<string>;
}

/** Another version has another template. */
function versionOf({ metadata: { uid, generation } }: ClusterSecretSync): string {
  return `${uid}/${generation}`;
}

interface Progress {
  /** Whether the pass left writes to the next one. */
  readonly hasMore: boolean;
  /** Whether a SecretSync had changed since it was judged. */
  readonly isOutdated: boolean;
}

/** The removals that are allowed. */
function removalsOf({ plan, removal }: Findings): readonly Write[] {
  return removal.verdict === 'allowed' || removal.verdict === 'consented' ? plan.removals : [];
}

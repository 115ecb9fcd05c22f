import type { GrantRule } from '../../../domain/grants.ts';
import type { AccessGrant, AccessGrantSpec } from '../../generated/access-grant.ts';
import type { NamespaceState, Namespaces } from '../../frame/namespaces.ts';
import { type NamespaceFacts, isGrantFor, rulesOf } from './match.ts';
import type { NamedWatch } from '../../frame/named-watch.ts';
import type { KubeObject } from '../../../kube/client/objects.ts';

// Must equal maxItems of spec.rules in the CRD.
const maxRules = 64;

interface IndexedGrant {
  readonly uid: string;
  readonly generation: number;
  readonly spec: AccessGrantSpec;
  readonly rules: readonly GrantRule[];
}

/** Called with the namespaces whose rules may have changed. */
export type GrantListener = (namespaces: ReadonlySet<string>) => void;

export interface GrantIndexDeps {
  readonly namespaces: Pick<Namespaces, 'find' | 'all' | 'onChange' | 'watch'>;
  /** Called with the name of each AccessGrant whose set of existing namespaces has changed. */
  readonly onReach: (grant: string) => void;
}

/**
 * What all AccessGrants together allow each namespace, from the AccessGrants and the names and labels of all namespaces.
 * Do not rely on it before both are listed (`isSynced`): a grant that was not seen yet looks like a withdrawn one.
 */
export class GrantIndex {
  readonly #deps: GrantIndexDeps;
  readonly #grants = new Map<string, IndexedGrant>();
  readonly #listeners = new Set<GrantListener>();
  /** A cache of `rulesFor`; a change of the rules clears it. */
  readonly #rulesByNamespace = new Map<string, readonly GrantRule[]>();
  /** The watch of the AccessGrants. */
  #grantWatch: NamedWatch | undefined;

  constructor(deps: GrantIndexDeps) {
    this.#deps = deps;
    deps.namespaces.onChange((before, after) => this.#namespaceChanged(before, after));
  }

  /**
   * The watches that must be synced before a resource is reconciled. A resource that is being deleted needs no grant, but
   * must know its cluster.
   */
  needsOf({ metadata: { namespace = '', deletionTimestamp } }: KubeObject): readonly NamedWatch[] {
    const { namespaces } = this.#deps;
    const isLeaving = deletionTimestamp !== undefined || namespaces.find(namespace)?.isEnding === true;
    return isLeaving ? [namespaces.watch] : this.watches;
  }

  /** The watches that must be synced before `rulesFor` is reliable. */
  get watches(): readonly NamedWatch[] {
    const { watch } = this.#deps.namespaces;
    return this.#grantWatch === undefined ? [watch] : [this.#grantWatch, watch];
  }

  /** Whether everything is listed. Until then, a missing grant does not mean a withdrawn one. */
  get isSynced(): boolean {
    return this.#grantWatch !== undefined && this.watches.every(({ group }) => group.isSynced);
  }

  /** Sets the watch of the AccessGrants. Call it once, before anything starts. */
  waitFor(watch: NamedWatch): void {
    this.#grantWatch = watch;
  }

  /** The rules of all grants that apply to a namespace. */
  rulesFor(namespace: string): readonly GrantRule[] {
    const known = this.#rulesByNamespace.get(namespace);
    if (known !== undefined) return known;
    const facts = this.#deps.namespaces.find(namespace) ?? { name: namespace, labels: undefined };
    const all = [...this.#grants.values()].flatMap(({ spec, rules }) => (isGrantFor(spec, facts) ? rules : []));
    this.#rulesByNamespace.set(namespace, all);
    return all;
  }

  /** The name of the first AccessGrant that applies to this namespace alone and has room for another rule. */
  ownGrantOf(namespace: string): string | undefined {
    return [...this.#grants]
      .filter(([, { spec }]) => spec.namespaces?.length === 1 && spec.namespaces[0] === namespace)
      .filter(([, { rules }]) => rules.length < maxRules)
      .map(([name]) => name)
      .toSorted((a, b) => (a < b ? -1 : 1))[0];
  }

  /** The existing namespaces that a grant's spec applies to. */
  namespacesFor(spec: AccessGrantSpec): readonly string[] {
    return [...this.#deps.namespaces.all()].filter((facts) => isGrantFor(spec, facts)).map(({ name }) => name);
  }

  /** Adds a listener. Returns a function that removes it. */
  onChange(listener: GrantListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Adds a version of an AccessGrant. One that is being deleted allows nothing. */
  grantSeen({ metadata, spec }: AccessGrant): void {
    const { name, uid, generation = 0, deletionTimestamp } = metadata;
    if (deletionTimestamp !== undefined) return this.grantGone(name);
    const before = this.#grants.get(name);
    // Only the status or metadata changed.
    if (before?.uid === uid && before.generation === generation) return;
    this.#grants.set(name, { uid, generation, spec, rules: rulesOf(spec) });
    this.#rulesByNamespace.clear();
    this.#notify([...(before === undefined ? [] : this.#reachOf(before.spec)), ...this.#reachOf(spec)]);
  }

  grantGone(name: string): void {
    const before = this.#grants.get(name);
    if (before === undefined) return;
    this.#grants.delete(name);
    this.#rulesByNamespace.clear();
    this.#notify(this.#reachOf(before.spec));
  }

  #namespaceChanged(before: NamespaceState | undefined, after: NamespaceState | undefined): void {
    const reaches = (spec: AccessGrantSpec, facts: NamespaceFacts | undefined): boolean =>
      facts !== undefined && isGrantFor(spec, facts);
    const name = after?.name ?? before?.name;
    if (name !== undefined) this.#rulesByNamespace.delete(name);
    const affected = [...this.#grants].filter(([, { spec }]) => reaches(spec, before) !== reaches(spec, after));
    for (const [grant] of affected) this.#deps.onReach(grant);
    if (name !== undefined && affected.length > 0) this.#notify([name]);
  }

  /** The namespaces that a spec applies to: those that exist, and those that it names. */
  #reachOf(spec: AccessGrantSpec): string[] {
    return [...this.namespacesFor(spec), ...(spec.namespaces ?? []).filter((name) => name !== '*')];
  }

  #notify(namespaces: readonly string[]): void {
    if (namespaces.length === 0) return;
    const all = new Set(namespaces);
    for (const listener of this.#listeners) listener(all);
  }
}

import type { GrantRule } from '../../../domain/grants.ts';
import type { AccessGrant, AccessGrantSpec } from '../../generated/access-grant.ts';
import type { NamespaceState, Namespaces } from '../../frame/namespaces.ts';
import { type NamespaceFacts, isGrantFor, rulesOf } from './match.ts';
import type { NamedWatch } from '../../frame/named-watch.ts';
import type { KubeObject } from '../../../kube/client/objects.ts';

// As the definition has it.
const maxRules = 64;

interface IndexedGrant {
  readonly uid: string;
  readonly generation: number;
  readonly spec: AccessGrantSpec;
  readonly rules: readonly GrantRule[];
}

/** Told which namespaces may have other rules now. */
export type GrantListener = (namespaces: ReadonlySet<string>) => void;

export interface GrantIndexDeps {
  readonly namespaces: Pick<Namespaces, 'find' | 'all' | 'onChange' | 'watch'>;
  /** Told of the AccessGrants, by name, that are for another set of existing namespaces now. */
  readonly onReach: (grant: string) => void;
}

/**
 * What all AccessGrants together allow each namespace: from the AccessGrants, which their controller shows it, and the
 * names and labels of all namespaces. An answer counts only once both were listed (`isSynced`):
 * before that a grant that is not seen yet looks like one that was withdrawn.
 */
export class GrantIndex {
  readonly #deps: GrantIndexDeps;
  readonly #grants = new Map<string, IndexedGrant>();
  readonly #listeners = new Set<GrantListener>();
  /** The rules of each namespace that were asked for since they changed. */
  readonly #rulesByNamespace = new Map<string, readonly GrantRule[]>();
  /** The watch of the AccessGrants. */
  #grantWatch: NamedWatch | undefined;

  constructor(deps: GrantIndexDeps) {
    this.#deps = deps;
    deps.namespaces.onChange((before, after) => this.#namespaceChanged(before, after));
  }

  /**
   * What must have been listed before a resource may act. One that goes acts by no grant, but must know which cluster it is
   * in.
   */
  needsOf({ metadata: { namespace = '', deletionTimestamp } }: KubeObject): readonly NamedWatch[] {
    const { namespaces } = this.#deps;
    const isLeaving = deletionTimestamp !== undefined || namespaces.find(namespace)?.isEnding === true;
    return isLeaving ? [namespaces.watch] : this.watches;
  }

  /** All that must have been listed before `rulesFor` counts. */
  get watches(): readonly NamedWatch[] {
    const { watch } = this.#deps.namespaces;
    return this.#grantWatch === undefined ? [watch] : [this.#grantWatch, watch];
  }

  /** Whether everything was listed: until then nothing may be taken for withdrawn. */
  get isSynced(): boolean {
    return this.#grantWatch !== undefined && this.watches.every(({ group }) => group.isSynced);
  }

  /** Makes the index wait for the watch that shows it the AccessGrants. Call once, before anything starts. */
  waitFor(watch: NamedWatch): void {
    this.#grantWatch = watch;
  }

  /** The rules of all grants that are for a namespace. */
  rulesFor(namespace: string): readonly GrantRule[] {
    const known = this.#rulesByNamespace.get(namespace);
    if (known !== undefined) return known;
    const facts = this.#deps.namespaces.find(namespace) ?? { name: namespace, labels: undefined };
    const all = [...this.#grants.values()].flatMap(({ spec, rules }) => (isGrantFor(spec, facts) ? rules : []));
    this.#rulesByNamespace.set(namespace, all);
    return all;
  }

  /** Name of an AccessGrant that is for one namespace alone and has room for another rule: of several, the first. */
  ownGrantOf(namespace: string): string | undefined {
    return [...this.#grants]
      .filter(([, { spec }]) => spec.namespaces?.length === 1 && spec.namespaces[0] === namespace)
      .filter(([, { rules }]) => rules.length < maxRules)
      .map(([name]) => name)
      .toSorted((a, b) => (a < b ? -1 : 1))[0];
  }

  /** How many existing namespaces a grant's spec is for. */
  countFor(spec: AccessGrantSpec): number {
    return this.#matching(spec).length;
  }

  /** Adds a listener; the answer removes it. */
  onChange(listener: GrantListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Takes a version of an AccessGrant. One that is being deleted allows nothing more. */
  grantSeen({ metadata, spec }: AccessGrant): void {
    const { name, uid, generation = 0, deletionTimestamp } = metadata;
    if (deletionTimestamp !== undefined) return this.grantGone(name);
    const before = this.#grants.get(name);
    // Only its status or metadata changed.
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

  /** The namespaces that a spec is for: those that exist, and those that it names. */
  #reachOf(spec: AccessGrantSpec): string[] {
    return [...this.#matching(spec), ...(spec.namespaces ?? []).filter((name) => name !== '*')];
  }

  #matching(spec: AccessGrantSpec): string[] {
    return [...this.#deps.namespaces.all()].filter((facts) => isGrantFor(spec, facts)).map(({ name }) => name);
  }

  #notify(namespaces: readonly string[]): void {
    if (namespaces.length === 0) return;
    const all = new Set(namespaces);
    for (const listener of this.#listeners) listener(all);
  }
}

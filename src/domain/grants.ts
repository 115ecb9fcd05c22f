import type { GrantedKindName } from './kinds.ts';

export type TokenPermission = 'read' | 'read_write';

/**
 * What AccessGrants allow the custom resources of a namespace (docs/resources/access-grant.md). Pure: the controller
 * provides the rules of a namespace, and the services evaluate them here.
 */

/** One rule of an AccessGrant. `*` stands for all; there are no other patterns. */
export interface GrantRule {
  /** Slug. */
  readonly organization: string;
  /** Slug, or `*` for all. */
  readonly project: string;
  /** Slugs, or `*` alone for all. */
  readonly environments: readonly string[];
  readonly permission: TokenPermission;
  readonly kinds: readonly GrantedKindName[];
}

/** The place of a request, by slugs: an organization, a project or an environment. */
export interface GrantPlace {
  readonly organization: string;
  /** Null for the whole organization. */
  readonly project: string | null;
  /** Null for the whole project, or organization. */
  readonly environment: string | null;
}

/** A place and what is asked for there. */
export interface AskedPlace extends GrantPlace {
  readonly permission: TokenPermission;
}

/** The access that a custom resource needs. */
export interface GrantNeed extends AskedPlace {
  readonly kind: GrantedKindName;
  /** Whether a rule must name the project and the environment: `*` does not cover them. */
  readonly byName?: boolean;
}

// Kinds that a kind creates. A grant must allow these too.
const helpers: Readonly<Partial<Record<GrantedKindName, readonly GrantedKindName[]>>> = {
  SnapshotSchedule: ['SecretSnapshot'],
};

// A rule for the stronger kind also covers the weaker kind: a ServiceToken gives its namespace a token that can read.
const stronger: Readonly<Partial<Record<GrantedKindName, GrantedKindName>>> = { SecretSync: 'ServiceToken' };

/**
 * Whether one of the rules covers the whole need; two rules that cover half of it each do not. A whole organization
 * requires `*` for projects and environments, a whole project `*` for environments. `read_write` covers `read`. For each
 * kind that the resource creates, one of the rules must cover the need too. A rule for ServiceTokens covers SecretSyncs,
 * which can do less. A need by name requires a rule with these names.
 */
export function covers(rules: readonly GrantRule[], need: GrantNeed): boolean {
  return kindsNeeded(need.kind).every((kind) => rules.some((rule) => coversAlone(rule, { ...need, kind })));
}

/** Whether a rule lets resources of any kind read a place. If so, the namespace may know that the place exists. */
export function reveals(rules: readonly GrantRule[], place: GrantPlace): boolean {
  return rules.some((rule) => rule.kinds.some((kind) => coversAlone(rule, { ...place, kind, permission: 'read' })));
}

/** An AccessGrant that would cover the need, as YAML to apply. `name` is the name of the grant. */
export function grantYaml(need: GrantNeed, namespace: string, name: string): string {
  return `apiVersion: keyframe.dev/v1alpha1
kind: AccessGrant
metadata:
  name: ${quoted(name)}
spec:
  namespaces: [${quoted(namespace)}]
  rules:
    - organization: ${quoted(need.organization)}
      project: ${quoted(need.project ?? '*')}
      environments: [${quoted(need.environment ?? '*')}]
      permission: ${grantedPermission(need.permission)}
      kinds: [${kindsNeeded(need.kind).join(', ')}]
`;
}

/** The command that adds a rule to an AccessGrant and keeps its other rules. */
export function grantPatch(need: GrantNeed, name: string): string {
  const value = {
    organization: need.organization,
    project: need.project ?? '*',
    environments: [need.environment ?? '*'],
    permission: grantedPermission(need.permission),
    kinds: kindsNeeded(need.kind),
  };
  const patch = JSON.stringify([{ op: 'add', path: '/spec/rules/-', value }]);
  return `kubectl patch accessgrants.keyframe.dev ${name} --type=json -p '${patch}'`;
}

// Resources of one namespace that ask together have the same list, and each refusal names what it allows.
const knownTexts = new WeakMap<readonly GrantRule[], Map<GrantedKindName, string>>();

/** What rules allow one kind, as text such as `Read on acme/web/{dev, prod}`; the first few of them. */
export function grantedText(rules: readonly GrantRule[], kind: GrantedKindName): string {
  const known = knownTexts.get(rules) ?? new Map<GrantedKindName, string>();
  knownTexts.set(rules, known);
  const text = known.get(kind) ?? textOf(rules, kind);
  known.set(kind, text);
  return text;
}

function textOf(rules: readonly GrantRule[], kind: GrantedKindName): string {
  const allowed = rules
    .filter((rule) => isFor(rule, kind))
    .map(({ organization, project, environments, permission }) => {
      const listed = shortened(environments);
      const place = environments.length === 1 ? listed : `{${listed}}`;
      return `${grantedPermission(permission)} on ${organization}/${project}/${place}`;
    });
  return allowed.length === 0 ? 'nothing' : shortened([...new Set(allowed)].toSorted());
}

// The rules of a namespace must not fill the message of a condition.
const maxShown = 5;

function shortened(texts: readonly string[]): string {
  const more = texts.length > maxShown ? [`${texts.length - maxShown} more`] : [];
  return [...texts.slice(0, maxShown), ...more].join(', ');
}

/** A permission as an AccessGrant spells it. */
export function grantedPermission(permission: GrantNeed['permission']): 'Read' | 'ReadWrite' {
  return permission === 'read' ? 'Read' : 'ReadWrite';
}

/** The kinds that rules must allow for a resource of this kind, and for the resources that it creates. */
export function kindsNeeded(kind: GrantedKindName): readonly GrantedKindName[] {
  return [kind, ...(helpers[kind] ?? [])];
}

function coversAlone(rule: GrantRule, need: GrantNeed): boolean {
  return (
    isFor(rule, need.kind) &&
    rule.organization === need.organization &&
    names([rule.project], need.project, need) &&
    names(rule.environments, need.environment, need) &&
    (need.permission === 'read' || rule.permission === 'read_write')
  );
}

/** Whether slugs of a rule name that of a need, which is null for all. */
function names(slugs: readonly string[], slug: string | null, { byName = false }: GrantNeed): boolean {
  return (slugs.includes('*') && !byName) || (slug !== null && slugs.includes(slug));
}

function isFor({ kinds }: GrantRule, kind: GrantedKindName): boolean {
  const strongerKind = stronger[kind];
  return kinds.includes(kind) || (strongerKind !== undefined && kinds.includes(strongerKind));
}

// JSON strings are YAML strings, so that a name such as "1e3" or "no" stays a string.
function quoted(text: string): string {
  return JSON.stringify(text);
}

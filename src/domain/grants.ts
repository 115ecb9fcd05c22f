import type { GrantedKindName } from './kinds.ts';

export type TokenPermission = 'read' | 'read_write';

/**
 * What AccessGrants allow the custom resources of a namespace (docs/resources/access-grant.md). Pure: the controller
 * knows which rules a namespace has, the services ask here.
 */

/** One rule of an AccessGrant. `*` is written out where all is meant; nothing else is a pattern. */
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

/** Where something is asked for, by slugs: an organization, a project or an environment. */
export interface GrantPlace {
  readonly organization: string;
  /** Null for the whole organization. */
  readonly project: string | null;
  /** Null for the whole project, or organization. */
  readonly environment: string | null;
}

/** What a custom resource asks for. */
export interface GrantNeed extends GrantPlace {
  readonly kind: GrantedKindName;
  readonly permission: TokenPermission;
}

// What a kind has others do for it, which they must be allowed as well.
const helpers: Readonly<Partial<Record<GrantedKindName, readonly GrantedKindName[]>>> = {
  SnapshotSchedule: ['SecretSnapshot'],
};

// Kinds whose rules also cover another kind, because they allow more: a ServiceToken gives its namespace a token to read with.
const stronger: Readonly<Partial<Record<GrantedKindName, GrantedKindName>>> = { SecretSync: 'ServiceToken' };

/**
 * Whether one of the rules covers all that is asked for: two that cover half of it each do not. A whole organization
 * needs `*` for projects and environments, a whole project `*` for environments; `read_write` covers `read`. What a kind
 * has others do for it, one of the rules must allow to them as well. A rule for ServiceTokens covers SecretSyncs, which
 * can do less.
 */
export function covers(rules: readonly GrantRule[], need: GrantNeed): boolean {
  return kindsNeeded(need.kind).every((kind) => rules.some((rule) => coversAlone(rule, { ...need, kind })));
}

/** Whether some rule lets resources of some kind read at a place: then its namespace may know that the place exists. */
export function reveals(rules: readonly GrantRule[], place: GrantPlace): boolean {
  return rules.some((rule) => rule.kinds.some((kind) => coversAlone(rule, { ...place, kind, permission: 'read' })));
}

/** An AccessGrant that would cover what is asked for, as YAML to apply; `name` is the grant's own. */
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

/** The command that adds a rule to an AccessGrant and leaves its other rules as they are. */
export function grantPatch(need: GrantNeed, name: string): string {
  const value = {
    organization: need.organization,
    project: need.project ?? '*',
    environments: [need.environment ?? '*'],
    permission: grantedPermission(need.permission),
    kinds: kindsNeeded(need.kind),
  };
  const patch = JSON.stringify([{ op: 'add', path: '/spec/rules/-', value }]);
  return `kubectl patch accessgrant ${name} --type=json -p '${patch}'`;
}

/** What rules allow one kind, for people, such as `Read on acme/web/{dev, prod}`; the first few of them. */
export function grantedText(rules: readonly GrantRule[], kind: GrantedKindName): string {
  const texts = rules
    .filter((rule) => isFor(rule, kind))
    .map(({ organization, project, environments, permission }) => {
      const listed = shortened(environments);
      const place = environments.length === 1 ? listed : `{${listed}}`;
      return `${grantedPermission(permission)} on ${organization}/${project}/${place}`;
    });
  return texts.length === 0 ? 'nothing' : shortened([...new Set(texts)].toSorted());
}

// A condition must not be filled with a namespace's rules.
const maxShown = 5;

function shortened(texts: readonly string[]): string {
  const more = texts.length > maxShown ? [`${texts.length - maxShown} more`] : [];
  return [...texts.slice(0, maxShown), ...more].join(', ');
}

/** A permission as an AccessGrant spells it. */
export function grantedPermission(permission: GrantNeed['permission']): 'Read' | 'ReadWrite' {
  return permission === 'read' ? 'Read' : 'ReadWrite';
}

/** The kinds that a rule must have for one of this kind, and for those that it makes. */
export function kindsNeeded(kind: GrantedKindName): readonly GrantedKindName[] {
  return [kind, ...(helpers[kind] ?? [])];
}

function coversAlone(rule: GrantRule, { kind, organization, project, environment, permission }: GrantNeed): boolean {
  const allEnvironments = rule.environments.includes('*');
  return (
    isFor(rule, kind) &&
    rule.organization === organization &&
    (rule.project === '*' || (project !== null && rule.project === project)) &&
    (allEnvironments || (environment !== null && rule.environments.includes(environment))) &&
    (permission === 'read' || rule.permission === 'read_write')
  );
}

function isFor({ kinds }: GrantRule, kind: GrantedKindName): boolean {
  const strongerKind = stronger[kind];
  return kinds.includes(kind) || (strongerKind !== undefined && kinds.includes(strongerKind));
}

// JSON strings are YAML strings: a name such as "1e3" or "no" stays one.
function quoted(text: string): string {
  return JSON.stringify(text);
}

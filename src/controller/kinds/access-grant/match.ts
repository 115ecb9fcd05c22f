import type { GrantRule } from '../../../domain/grants.ts';
import type { AccessGrantSpec } from '../../generated/access-grant.ts';

/** Which namespaces an AccessGrant applies to, and what it allows. Pure functions. */

export type NamespaceSelector = NonNullable<AccessGrantSpec['namespaceSelector']>;
type Expression = NonNullable<NamespaceSelector['matchExpressions']>[number];

/** The parts of a namespace that grants depend on. The labels are undefined if the namespace is not known to exist. */
export interface NamespaceFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/**
 * Whether a grant applies to a namespace: by its name, even if it is not known to exist, or by its labels with the rules
 * of Kubernetes selectors. A spec with neither applies to no namespace.
 */
export function isGrantFor(
  { namespaces, namespaceSelector }: Pick<AccessGrantSpec, 'namespaces' | 'namespaceSelector'>,
  { name, labels }: NamespaceFacts,
): boolean {
  if (namespaces !== undefined) return namespaces.includes('*') || namespaces.includes(name);
  return namespaceSelector !== undefined && labels !== undefined && selects(namespaceSelector, labels);
}

/** Whether all parts of a selector match. A selector without parts, which the API server refuses, selects nothing. */
function selects(selector: NamespaceSelector, labels: Readonly<Record<string, string>>): boolean {
  const equalities = Object.entries(selector.matchLabels ?? {});
  const expressions = selector.matchExpressions ?? [];
  if (equalities.length + expressions.length === 0) return false;
  return (
    equalities.every(([key, value]) => valueOf(labels, key) === value) &&
    expressions.every((expression) => holds(expression, valueOf(labels, expression.key)))
  );
}

function holds({ operator, values = [] }: Expression, value: string | undefined): boolean {
  const isListed = value !== undefined && values.includes(value);
  const results = { In: isListed, NotIn: !isListed, Exists: value !== undefined, DoesNotExist: value === undefined };
  return results[operator];
}

// A label can have the name «constructor».
function valueOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** The rules of a grant in the terms of the domain. Absent fields have the defaults that the definition describes. */
export function rulesOf({ rules }: Pick<AccessGrantSpec, 'rules'>): GrantRule[] {
  return rules.map(({ permission = 'Read', kinds = ['ServiceToken'], ...rule }) => ({
    ...rule,
    kinds,
    permission: permission === 'ReadWrite' ? 'read_write' : 'read',
  }));
}

import type { GrantRule } from '../../../domain/grants.ts';
import type { AccessGrantSpec } from '../../generated/access-grant.ts';

/** Which namespaces an AccessGrant is for, and what it allows them. Pure. */

export type NamespaceSelector = NonNullable<AccessGrantSpec['namespaceSelector']>;
type Expression = NonNullable<NamespaceSelector['matchExpressions']>[number];

/** A namespace, as far as grants look at it. Its labels are undefined where it is not known to exist. */
export interface NamespaceFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/**
 * Whether a grant is for a namespace: by its name, whether or not it is known to exist, or by its labels, as Kubernetes
 * selects. A spec that names no namespace in either way is for none.
 */
export function isGrantFor(
  { namespaces, namespaceSelector }: Pick<AccessGrantSpec, 'namespaces' | 'namespaceSelector'>,
  { name, labels }: NamespaceFacts,
): boolean {
  if (namespaces !== undefined) return namespaces.includes('*') || namespaces.includes(name);
  return namespaceSelector !== undefined && labels !== undefined && selects(namespaceSelector, labels);
}

/** Whether all parts of a selector hold. One without any part, which the API server refuses, selects nothing. */
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

// A label may be called «constructor».
function valueOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** The rules of a grant in the words of the domain. */
export function rulesOf({ rules }: Pick<AccessGrantSpec, 'rules'>): GrantRule[] {
  return rules.map(({ permission, ...rule }) => ({
    ...rule,
    permission: permission === 'ReadWrite' ? 'read_write' : 'read',
  }));
}

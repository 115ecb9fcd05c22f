import type { ApiCall } from '../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../src/kube/client/objects.ts';

/** Whether an object is in the collection of a call and fits its selectors. */
export function fits(call: Pick<ApiCall, 'path' | 'query'>, objectPath: string, { metadata }: KubeObject): boolean {
  const { labelSelector = '', fieldSelector = '' } = call.query ?? {};
  const hasName = fieldSelector === '' || fieldSelector === `metadata.name=${metadata.name}`;
  return hasName && isInside(call.path, objectPath) && hasLabels(labelSelector, metadata.labels ?? {});
}

/** `a=b`, `a`, `!a`, `a in (b,c)` and `a notin (b,c)`, with commas between them. */
function hasLabels(selector: string, labels: Readonly<Record<string, string>>): boolean {
  if (selector === '') return true;
  return selector.split(/,(?![^(]*\))/).every((term) => {
    const [, key = '', operator, list = ''] = /^(\S+) (in|notin) \((.*)\)$/.exec(term) ?? [];
    if (operator !== undefined) return list.split(',').includes(labels[key] ?? '') === (operator === 'in');
    if (term.startsWith('!')) return labels[term.slice(1)] === undefined;
    const [name = '', value] = term.split('=');
    return value === undefined ? labels[name] !== undefined : labels[name] === value;
  });
}

function isInside(collectionPath: string, objectPath: string): boolean {
  if (/\/namespaces(\/|$)/.test(collectionPath)) {
    return objectPath.slice(0, objectPath.lastIndexOf('/')) === collectionPath;
  }
  return objectPath.includes(`/${collectionPath.split('/').at(-1)}/`);
}

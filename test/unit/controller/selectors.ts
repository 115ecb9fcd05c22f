import type { ApiCall } from '../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../src/kube/client/objects.ts';

/** Whether an object is in the collection of a call and fits its selectors. */
export function fits(call: Pick<ApiCall, 'path' | 'query'>, objectPath: string, { metadata }: KubeObject): boolean {
  const { labelSelector = '', fieldSelector = '' } = call.query ?? {};
  const [label = '', value] = labelSelector.split('=');
  const hasLabel = label === '' || metadata.labels?.[label] === value;
  const hasName = fieldSelector === '' || fieldSelector === `metadata.name=${metadata.name}`;
  return isInside(call.path, objectPath) && hasLabel && hasName;
}

function isInside(collectionPath: string, objectPath: string): boolean {
  if (/\/namespaces(\/|$)/.test(collectionPath)) {
    return objectPath.slice(0, objectPath.lastIndexOf('/')) === collectionPath;
  }
  return objectPath.includes(`/${collectionPath.split('/').at(-1)}/`);
}

/** Every sentence that the condition Ready of an AccessGrant contains. Its Events repeat these. */

export function granted(namespaces: number): string {
  return `The rules apply to the resources in ${namespaces} namespace${namespaces === 1 ? '' : 's'}.`;
}

/** spec.namespaceSelector selects nothing. */
export const noneMatches =
  'No namespace matches spec.namespaceSelector. Label a namespace or change the selector. ' +
  'The rules apply as soon as a namespace matches.';

/** spec.namespaces names nothing that exists. */
export const noneExists =
  'None of the namespaces in spec.namespaces exists. Create one or correct the names. ' +
  'The rules apply as soon as one of them exists.';

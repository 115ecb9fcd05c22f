import { shortList } from '../../names.ts';

/** Every sentence that the condition Ready of an AccessGrant contains. Its Events repeat these. */

/** The rules apply to so many namespaces; `missing` are those of spec.namespaces that do not exist. */
export function granted(namespaces: number, missing: readonly string[]): string {
  const applies = `The rules apply to the resources in ${namespaces} namespace${namespaces === 1 ? '' : 's'}.`;
  if (missing.length === 0) return applies;
  return `${applies} spec.namespaces also has names of namespaces that do not exist: ${shortList(missing)}.`;
}

/** spec.namespaceSelector selects nothing. */
export const noneMatches =
  'No namespace matches spec.namespaceSelector. Label a namespace or change the selector. ' +
  'The rules apply as soon as a namespace matches.';

/** spec.namespaces names nothing that exists. */
export const noneExists =
  'None of the namespaces in spec.namespaces exists. Create one or correct the names. ' +
  'The rules apply as soon as one of them exists.';

import type { NamespaceState } from '../../frame/namespaces.ts';
import type { ClusterSecretSyncSpec } from '../../generated/cluster-secret-sync.ts';
import { isGrantFor } from '../access-grant/match.ts';

/** The namespaces that a ClusterSecretSync selects. Pure. */

type SelectingFields = Pick<ClusterSecretSyncSpec, 'namespaces' | 'namespaceSelector' | 'excludeNamespaces'>;

/** Whether a spec selects a namespace, which must exist. One that is being deleted is not selected. */
export function isSelected(spec: SelectingFields, namespace: NamespaceState | undefined): boolean {
  if (namespace === undefined || namespace.isEnding) return false;
  const { name } = namespace;
  return !spec.excludeNamespaces.some((pattern) => fits(pattern, name)) && isGrantFor(spec, namespace);
}

/** Whether a name equals the pattern, or starts with its prefix if the pattern ends with `*`. */
function fits(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

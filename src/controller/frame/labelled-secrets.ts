import type { KubeObject } from '../../kube/client/objects.ts';
import { ReflectorGroup, type ReflectorGroupDeps } from '../../kube/informer/reflector-group.ts';
import { secretsPath } from '../../kube/client/secrets.ts';
import type { KindContext } from './managed-kind.ts';

/** Watches the metadata of all Secrets in the watched namespaces with this label. No value is kept in memory. */
export function watchLabelledSecrets(
  { kube: client, clock, logger, watchNamespaces, namespaces, onWatchFailure, onRecovered }: KindContext,
  label: string,
  handler: ReflectorGroupDeps<KubeObject>['handler'],
): ReflectorGroup<KubeObject> {
  return new ReflectorGroup<KubeObject>({
    client,
    clock,
    logger,
    namespaces: watchNamespaces,
    isGone: (name) => namespaces.isGone(name),
    source: (namespace) => ({ path: secretsPath(namespace), labelSelector: `${label}=true`, metadataOnly: true }),
    handler,
    onFailure: onWatchFailure,
    onRecovered,
  });
}

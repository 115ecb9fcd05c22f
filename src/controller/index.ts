import { divideMemory } from '../lib/process-memory.ts';
import type { Backend } from './backend/backend.ts';
import type { KindContext, ManagedKind } from './frame/managed-kind.ts';
import { type Controller, Manager, type ManagerDeps, type ManagerOptions } from './frame/manager.ts';
import { registerAccessGrant } from './kinds/access-grant/index.ts';
import { registerClusterSecretSync } from './kinds/cluster-secret-sync/index.ts';
import { SecretClaims } from './kinds/secret-claims/claims.ts';
import { registerSecretEnvironment } from './kinds/secret-environment/index.ts';
import { adoptionsOf } from './kinds/secret-snapshot/adoptions.ts';
import { registerSecretSnapshot } from './kinds/secret-snapshot/index.ts';
import { allReferences } from './kinds/secret-snapshot/references.ts';
import { registerSecretSync } from './kinds/secret-sync/index.ts';
import { registerServiceToken } from './kinds/service-token/index.ts';
import { registerSnapshotRestore } from './kinds/snapshot-restore/index.ts';
import { registerSnapshotSchedule } from './kinds/snapshot-schedule/index.ts';

export type { Controller } from './frame/manager.ts';

export interface ControllerDeps extends Omit<ManagerDeps, 'options'> {
  readonly options: ControllerOptions;
}

export interface ControllerOptions extends ManagerOptions {
  /** Whether workloads may be restarted; default false. */
  readonly rollouts?: boolean;
  /** Beginnings of the labels and annotations that SecretSyncs may set; empty (the default) for all. */
  readonly targetMetadataPrefixes?: readonly string[];
  /** The namespaces in which they may be; default and empty: all. */
  readonly rolloutNamespaces?: readonly string[];
  /** Memory for what SecretSyncs read at the same time; default: by the memory of the process. */
  readonly reconcileBytes?: number | undefined;
}

/** Creates the controller of all kinds. It does nothing before `start`. */
export function createController(deps: ControllerDeps): Controller {
  return new Manager(deps, (context, backend) => registerAll(context, backend, deps));
}

function registerAll(context: KindContext, backend: Backend, { options }: ControllerDeps): readonly ManagedKind[] {
  const { clusterName } = options;
  const { kind: accessGrants, grants } = registerAccessGrant(context);
  const claims = new SecretClaims(context.events);
  const { fingerprint } = backend;
  const deps = { backend, grants, claims };
  const { kind: serviceTokenKind, tokens: serviceTokens } = registerServiceToken(context, deps);
  const { kind: secretSnapshots, snapshots } = registerSecretSnapshot(context, deps);
  const { watch: snapshotWatch } = secretSnapshots;
  const { rollouts = false, rolloutNamespaces = [] } = options;
  const mayRestartIn = (namespace: string): boolean =>
    rollouts && (rolloutNamespaces.length === 0 || rolloutNamespaces.includes(namespace));
  const { kind: secretSyncs, pins } = registerSecretSync({
    ...deps,
    context,
    clusterWatches: clusterName === undefined ? [context.namespaces.watch] : [],
    fingerprint,
    serviceTokens,
    snapshots,
    snapshotWatch,
    mayRestartIn,
    metadataPrefixes: options.targetMetadataPrefixes ?? [],
    reconcileBytes: options.reconcileBytes ?? divideMemory(true).reconcileBytes,
  });
  const restoreDeps = { ...deps, snapshots, snapshotWatch };
  const { kind: snapshotRestores, references: restores } = registerSnapshotRestore(context, restoreDeps);
  const references = allReferences([pins, restores, adoptionsOf(snapshots)]);
  return [
    // First: the resync at the start then finds no reconciled SecretSync, and queries nothing for them.
    secretSyncs,
    accessGrants,
    registerSecretEnvironment(context, deps).kind,
    serviceTokenKind,
    secretSnapshots,
    snapshotRestores,
    registerSnapshotSchedule(context, { ...deps, fingerprint, snapshots, snapshotWatch, references }),
    registerClusterSecretSync({ context, secretSyncWatch: secretSyncs.watch }),
  ];
}

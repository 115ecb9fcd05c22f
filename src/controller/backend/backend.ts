import type { ChangesBackend } from './changes.ts';
import type { ClusterBackend } from './cluster.ts';
import type { EnvironmentsBackend } from './environments.ts';
import type { Fingerprint } from './fingerprint.ts';
import type { FleetBackend } from './fleet.ts';
import type { RestoresBackend } from './restores.ts';
import type { SchedulesBackend } from './schedules.ts';
import type { SnapshotsBackend } from './snapshots.ts';
import type { SourcesBackend } from './sources.ts';
import type { TokensBackend } from './tokens.ts';

/**
 * What the controller needs of Keyframe, as this cluster (docs/internals/controller-port.md). A method takes plain data
 * and returns plain data. It authorizes and acts in one call, and throws DomainError.
 */
export interface Backend {
  readonly cluster: ClusterBackend;
  readonly changes: ChangesBackend;
  readonly sources: SourcesBackend;
  readonly tokens: TokensBackend;
  readonly snapshots: SnapshotsBackend;
  readonly restores: RestoresBackend;
  readonly schedules: SchedulesBackend;
  readonly environments: EnvironmentsBackend;
  readonly fleet: FleetBackend;
  readonly fingerprint: Fingerprint;
}

/**
 * Connects a cluster. `cluster` returns its name in the database. It is called at each use, because the name may not be
 * known at the start: then it throws DomainError cluster_unavailable, which is thrown to the caller.
 */
export type ConnectBackend = (cluster: () => string) => Backend;

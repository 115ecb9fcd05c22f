import { growingTables } from '../../../src/store/database-size.ts';
import { Metrics } from '../../../src/observability/metrics.ts';
import { maxResourceSeries } from '../../../src/observability/resource-metrics.ts';
import type { RefusalFault } from '../../../src/domain/credential-faults.ts';

/** One time series as Prometheus stores it: its labels by name, and its name as the label `__name__`. */
export type Series = Readonly<Record<string, string>>;

/** What is known from elsewhere of labels whose type is a plain string. */
export interface OpenLabels {
  readonly kinds: readonly string[];
  /** Reasons of the condition Ready. */
  readonly reasons: readonly string[];
  /** Statuses of HTTP answers. */
  readonly statuses: readonly number[];
}

/** Labels that Prometheus adds to each series from the target that it scrapes. */
export const targetLabels: ReadonlySet<string> = new Set([
  'namespace',
  'pod',
  'job',
  'instance',
  'service',
  'endpoint',
  'container',
]);

const faults = [
  'missing',
  'malformed',
  'unknown',
  'pending',
  'revoked',
  'suspended',
  'expired',
  'disabled',
  'scope_deleted',
] as const satisfies readonly RefusalFault[];

/** Calls each of the server's own functions for metrics, with every value that it may be given. */
function observeAll(metrics: Metrics, { kinds, reasons, statuses }: OpenLabels): void {
  countAll(metrics, { kinds, reasons, statuses });
  const pool = { totalCount: 1, idleCount: 1, waitingCount: 0 };
  metrics.observePools({ reads: pool, transactions: pool });
  const tables = growingTables.map((table) => ({ table, bytes: 1, rows: 1 }));
  metrics.observeDatabaseSize(() => Promise.resolve({ bytes: 1, tables }));
  metrics.observeAuditQueue(() => 0);
  metrics.observeChangeStreams(() => 0);
  metrics.observeRefusedClusters(() => [{ cluster: 'fra-1', reason: 'uid' }]);
  metrics.observeControllerQueue(() => 0);
  metrics.observeLeadership(() => true);
  metrics.observeClockSkew(() => 0);
  metrics.observeDeniedWatches(() => ['SecretSyncs']);
  const resources = kinds.flatMap((kind) =>
    reasons.flatMap((reason) =>
      [true, false].map((flag) => {
        const [isReady, isRotated] = [flag, flag];
        return { kind, reason, isReady, isRotated, namespace: 'shop', name: 'web', lastSyncMs: 1, expiresMs: 2 };
      }),
    ),
  );
  // More of them would have no series.
  if (resources.length > maxResourceSeries) throw new Error('There are more kinds and reasons than series.');
  metrics.observeResources(
    () => ({ resources, orphanedSecrets: 0 }),
    () => 0,
  );
}

/** Its counters and histograms. */
function countAll(metrics: Metrics, { kinds, reasons, statuses }: OpenLabels): void {
  for (const status of statuses) metrics.httpRequest({ method: 'GET', route: '/api/v1/me', status, durationMs: 1 });
  for (const fault of faults) metrics.authenticationFailed(fault);
  for (const limit of ['credential', 'address', 'traffic', 'cluster'] as const) metrics.rateLimited(limit);
  for (const kind of kinds) for (const reason of reasons) metrics.reconciled(kind, reason, 1);
  for (const operation of ['create', 'replace', 'apply', 'delete', 'repair'] as const)
    for (const result of ['done', 'conflict', 'failed'] as const) metrics.secretWrite(operation, result);
  for (const cause of ['resource_gone', 'grant_gone'] as const) metrics.orphanedTokenSuspended(cause);
  for (const result of ['done', 'refused', 'failed'] as const) metrics.syncStatesReported(result);
}

/** The names of the server's own metrics in a text of Prometheus' format, also of those without a series. */
export function declaredMetrics(text: string): string[] {
  return Array.from(text.matchAll(/^# TYPE (keyframe_\w+)/gm), ([, name = '']) => name).toSorted();
}

/** The series of a server whose metrics have taken every value, the names of all its metrics, and of those without a series. */
export async function sampleMetrics(
  labels: OpenLabels,
): Promise<{ series: Series[]; declared: string[]; missing: string[] }> {
  const metrics = new Metrics();
  observeAll(metrics, labels);
  const text = await metrics.render();
  const series = Array.from(text.matchAll(/^(?<name>[a-z]\w*)(?:\{(?<labels>.*)\})? \S+$/gm), ({ groups = {} }) => {
    const pairs = Array.from(
      (groups['labels'] ?? '').matchAll(/(\w+)="((?:\\.|[^"\\])*)"/g),
      ([, name = '', value]) => [
        // What Prometheus does with a label that the target has too.
        targetLabels.has(name) ? `exported_${name}` : name,
        value,
      ],
    );
    return { ...(Object.fromEntries(pairs) as Series), __name__: groups['name'] ?? '' };
  });
  const names = new Set(series.map(({ __name__ }) => __name__.replace(/_(?:bucket|count|sum)$/, '')));
  const declared = declaredMetrics(text);
  return { series, declared, missing: declared.filter((name) => !names.has(name)) };
}

import type { SyncStatesBackend } from '../../../src/controller/backend/fleet.ts';
import type { RefusedReports, ReportedPage, SyncStateReport } from '../../../src/domain/fleet.ts';

/** What a controller reports, in memory. */
export class FakeSyncStates implements SyncStatesBackend {
  /** The newest report of each source, by uid and source. */
  readonly rows = new Map<string, SyncStateReport>();
  /** Each call, with how many SecretSyncs or sources it is about. */
  readonly calls: string[] = [];
  /** SecretSyncs of a page. */
  pageSize = 1000;
  /** Thrown by each call while it is set. */
  fault: Error | undefined;
  /** Calls wait for it. */
  gate: Promise<void> | undefined;

  /** The uids that a limit refuses. */
  readonly refused = new Set<string>();

  async report(given: readonly SyncStateReport[]): Promise<RefusedReports[]> {
    await this.#call(`report ${given.length}`);
    const reports = given.filter(({ uid }) => !this.refused.has(uid));
    const uids = new Set(reports.map(({ uid }) => uid));
    for (const [key, { uid }] of this.rows) if (uids.has(uid)) this.rows.delete(key);
    for (const report of reports) this.rows.set(`${report.uid} ${report.source}`, report);
    const refused = given.map(({ uid }) => uid).filter((uid) => this.refused.has(uid));
    return refused.length === 0 ? [] : [{ uids: refused, code: 'quota_exceeded', detail: 'at most 5. Delete some' }];
  }

  async forget(uids: readonly string[]): Promise<void> {
    await this.#call(`forget ${uids.length}`);
    for (const [key, { uid }] of this.rows) if (uids.includes(uid)) this.rows.delete(key);
  }

  async reported(after: string | null): Promise<ReportedPage> {
    await this.#call('reported');
    const all = [...this.rows.values()].map(({ uid, namespace }) => ({ uid, namespace }));
    const left = all.filter(({ uid }) => after === null || uid > after).toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
    const resources = left.slice(0, this.pageSize);
    return { resources, next: left.length > this.pageSize ? (resources.at(-1)?.uid ?? null) : null };
  }

  async seen(): Promise<void> {
    await this.#call('seen');
  }

  async #call(call: string): Promise<void> {
    this.calls.push(call);
    await this.gate;
    if (this.fault !== undefined) throw this.fault;
  }
}

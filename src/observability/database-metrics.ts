import { Gauge, type Registry } from 'prom-client';
import { type SteadyNow, steadyNow } from '../lib/clock.ts';

export interface DatabaseFigures {
  readonly bytes: number;
  readonly tables: readonly { readonly table: string; readonly bytes: number; readonly rows: number }[];
}

/** The database is queried at most this often, however often the metrics are scraped. */
export const databaseFiguresMaxAgeMs = 60_000;

/** Metrics of the size of the database. While it does not respond, they are absent. */
export class DatabaseMetrics {
  readonly #read: () => Promise<DatabaseFigures>;
  readonly #now: SteadyNow;
  readonly #bytes: Gauge;
  readonly #tableBytes: Gauge<'table'>;
  readonly #tableRows: Gauge<'table'>;
  #refreshed: { readonly atMs: number; readonly done: Promise<void> } | undefined;

  /** Adds the metrics to a registry. `read` must not read rows. */
  static register(
    registry: Registry,
    read: () => Promise<DatabaseFigures>,
    now: SteadyNow = steadyNow,
  ): DatabaseMetrics {
    return new DatabaseMetrics(registry, read, now);
  }

  private constructor(registry: Registry, read: () => Promise<DatabaseFigures>, now: SteadyNow) {
    this.#read = read;
    this.#now = now;
    const registers = [registry];
    // The first gauge that is collected refreshes all of them.
    const collect = (): Promise<void> => this.#refresh();
    this.#bytes = new Gauge({
      name: 'keyframe_database_size_bytes',
      help: 'Size of the database on disk.',
      registers,
      collect,
    });
    const labelNames = ['table'] as const;
    this.#tableBytes = new Gauge({
      name: 'keyframe_database_table_size_bytes',
      help: 'Size on disk of a growing table, with its indexes.',
      labelNames,
      registers,
      collect,
    });
    this.#tableRows = new Gauge({
      name: 'keyframe_database_table_rows',
      help: 'Rows of a growing table, as estimated by PostgreSQL.',
      labelNames,
      registers,
      collect,
    });
  }

  #refresh(): Promise<void> {
    const atMs = this.#now();
    if (this.#refreshed === undefined || atMs - this.#refreshed.atMs >= databaseFiguresMaxAgeMs) {
      this.#refreshed = { atMs, done: this.#fetch() };
    }
    return this.#refreshed.done;
  }

  async #fetch(): Promise<void> {
    const figures = await this.#read().catch(() => undefined);
    // `reset` would set a gauge without labels to 0, which is a valid size.
    this.#bytes.remove();
    this.#tableBytes.reset();
    this.#tableRows.reset();
    if (figures === undefined) return;
    this.#bytes.set(figures.bytes);
    for (const { table, bytes, rows } of figures.tables) {
      this.#tableBytes.set({ table }, bytes);
      this.#tableRows.set({ table }, rows);
    }
  }
}

import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import {
  type DatabaseFigures,
  DatabaseMetrics,
  databaseFiguresMaxAgeMs,
} from '../../../src/observability/database-metrics.ts';

test('the database is asked at most once a minute, and reports nothing while it does not answer', async () => {
  const registry = new Registry();
  const state = { nowMs: 0, reads: 0, isAway: false };
  const read = (): Promise<DatabaseFigures> => {
    state.reads += 1;
    if (state.isAway) return Promise.reject(new Error('away'));
    return Promise.resolve({ bytes: 1000 * state.reads, tables: [{ table: 'audit_entry', bytes: 30, rows: 4 }] });
  };
  DatabaseMetrics.register(registry, read, () => state.nowMs);
  const scraped = await registry.metrics();
  expect(scraped).toMatch(/^keyframe_database_size_bytes 1000$/m);
  expect(scraped).toMatch(/^keyframe_database_table_size_bytes\{table="audit_entry"\} 30$/m);
  expect(scraped).toMatch(/^keyframe_database_table_rows\{table="audit_entry"\} 4$/m);
  state.nowMs += databaseFiguresMaxAgeMs - 1;
  expect(await registry.metrics()).toBe(scraped);
  expect(state.reads).toBe(1);
  state.nowMs += 1;
  expect(await registry.metrics()).toMatch(/^keyframe_database_size_bytes 2000$/m);
  Object.assign(state, { isAway: true, nowMs: state.nowMs + databaseFiguresMaxAgeMs });
  expect(await registry.metrics()).not.toMatch(/^keyframe_database_(?:size|table)\w* ?[{\d]/m);
});

import type { AuditRecord } from '../../store/audit.ts';

/** What a change returns, and the audit row that it writes. */
export interface Changed<T> {
  readonly result: T;
  /** Null if nothing was changed: then nothing is judged or recorded. */
  readonly audit: AuditRecord | null;
}

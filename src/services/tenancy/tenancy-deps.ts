import type { Database } from '../../store/database.ts';
import type { AuditLog } from '../audit/audit-log.ts';

/** What organizations, projects and environments need. */
export interface TenancyDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

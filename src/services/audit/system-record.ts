import { randomUUID } from 'node:crypto';
import type { Actor } from '../../domain/principal.ts';
import type { AuditRecord, AuditTarget } from '../../store/audit.ts';

/** The record of a change that a part of the server made by itself or for an operator, in one chain; null for the instance. */
export type SystemRecord = (organizationId: string | null, action: string, target: AuditTarget) => AuditRecord;

/** Makes the records of one run of a part of the server: they share an id of a request, and no credential was presented. */
export function systemRecords(actor: Actor): SystemRecord {
  const requestId = randomUUID();
  return (organizationId, action, target) => ({
    organizationId,
    actor,
    action,
    target,
    outcome: 'success',
    requestId,
    sourceAddress: null,
    label: action.startsWith('service_token.') ? '[Service Token]' : null,
    credential: null,
    cluster: null,
  });
}

import type { AnyCaller } from '../../domain/principal.ts';
import { type AuditLog, auditRecord, type AuditRecord, type AuditTarget } from './audit-log.ts';

/** A call as the audit records it. What `Access` returns is one. */
export interface AuditedCall {
  readonly caller: AnyCaller;
  readonly organizationId: string | null;
  readonly action: string;
  readonly target: AuditTarget;
}

/** A call in the chain of the instance: users, and what belongs to them, reach all of their organizations. */
export function instanceCall({ caller, action }: Pick<AuditedCall, 'caller' | 'action'>): AuditedCall {
  return { caller, organizationId: null, action, target: {} };
}

/** The record of a call that succeeded, with what more is known of its target. */
export function successRecord(call: AuditedCall, more: AuditTarget = {}): AuditRecord {
  const { caller, organizationId, action, target } = call;
  return auditRecord(caller, { organizationId, action, target: { ...target, ...more } });
}

/** Adds names, ids and numbers to the target of the call's audit row; never a value. */
export type Note = (more: AuditTarget) => void;

/**
 * Runs a read and audits it, also if it fails, before its result is returned. Throws what the read throws, and
 * DomainError overloaded or store_unavailable if the audit cannot be written: nothing is disclosed then.
 */
export async function auditedRead<T>(
  audit: Pick<AuditLog, 'record' | 'recordFailure'>,
  call: AuditedCall,
  read: (note: Note) => Promise<T>,
): Promise<T> {
  let known: AuditTarget = {};
  const result = await auditedFailure(audit, call, (note) =>
    read((more) => {
      known = { ...known, ...more };
      note(more);
    }),
  );
  await audit.record(successRecord(call, known));
  return result;
}

/** Like `auditedRead` if a service token calls; a person's reads of names alone are not audited. */
export async function auditedTokenRead<T>(
  audit: Pick<AuditLog, 'record' | 'recordFailure'>,
  call: AuditedCall,
  read: (note: Note) => Promise<T>,
): Promise<T> {
  return call.caller.principal.type === 'service_token' ? auditedRead(audit, call, read) : read(() => {});
}

/** Checks what a caller named, before anything is looked up, and audits a failure. Throws what the check throws. */
export async function auditedCheck(
  audit: Pick<AuditLog, 'recordFailure'>,
  caller: AnyCaller,
  action: string,
  check: () => void,
): Promise<void> {
  try {
    check();
  } catch (error) {
    // Without what was named: what is no slug or id may be a misplaced secret.
    await audit.recordFailure(caller, action, {}, error);
    throw error;
  }
}

/**
 * Runs a change, whose audit row is in its own transaction, and audits it if it fails. Throws what the change throws.
 */
export async function auditedFailure<T>(
  audit: Pick<AuditLog, 'recordFailure'>,
  { caller, organizationId, action, target }: AuditedCall,
  change: (note: Note) => Promise<T>,
): Promise<T> {
  let noted = target;
  try {
    return await change((more) => {
      noted = { ...noted, ...more };
    });
  } catch (error) {
    await audit.recordFailure(caller, action, { ...noted, organizationId }, error);
    throw error;
  }
}

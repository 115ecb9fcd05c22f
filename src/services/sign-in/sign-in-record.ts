import { type Caller, systemActor } from '../../domain/principal.ts';
import type { AuditRecord } from '../audit/audit-log.ts';

/** Who acts until a sign-in has said who it is. */
export const unknownPerson = systemActor('sign-in');

/** The record of a sign-in, in the chain of the instance like personal tokens. No token was presented. */
export function recordOf({
  requestId,
  sourceAddress,
}: Pick<Caller, 'requestId' | 'sourceAddress'>): Pick<
  AuditRecord,
  'organizationId' | 'requestId' | 'sourceAddress' | 'label' | 'credential' | 'cluster'
> {
  return { organizationId: null, requestId, sourceAddress, label: null, credential: null, cluster: null };
}

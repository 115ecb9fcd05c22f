import { auditListView, auditQuery } from '../audit.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 6 */

export const listInstanceAuditEntries = endpoint({
  method: 'GET',
  path: '/audit',
  operation: 'listInstanceAuditEntries',
  summary: 'List audit entries of the instance, which belong to no organization',
  input: { query: auditQuery },
  responses: { 200: auditListView },
});

export const listAuditEntries = endpoint({
  method: 'GET',
  path: '/audit/{org}',
  operation: 'listAuditEntries',
  summary: 'List audit entries of an organization',
  input: { query: auditQuery },
  responses: { 200: auditListView },
});

import type { AuditEntryRecord } from '../../services/audit-entries/audit-entries.ts';
import { type AuditEntryView, auditListView, auditQuery } from '../../wire/audit.ts';
import { type Route, instanceRoute, organizationRoute } from '../route.ts';

/** docs/interface.md 6 */
export const auditRoutes: readonly Route[] = [
  instanceRoute({
    method: 'GET',
    path: '/audit',
    action: 'audit.list_instance',
    operation: 'listInstanceAuditEntries',
    summary: 'List audit entries of the instance, which belong to no organization',
    input: { query: auditQuery },
    responses: { 200: auditListView },
    async handle({ auditEntries }, access, { query }) {
      const { entries, nextCursor } = await auditEntries.listInstance(access, query);
      return { status: 200, body: { entries: entries.map(entryView), nextCursor } };
    },
  }),
  organizationRoute({
    method: 'GET',
    path: '/audit/{org}',
    action: 'audit.list',
    operation: 'listAuditEntries',
    summary: 'List audit entries of an organization',
    input: { query: auditQuery },
    responses: { 200: auditListView },
    async handle({ auditEntries }, access, { query }) {
      const { entries, nextCursor } = await auditEntries.list(access, query);
      return { status: 200, body: { entries: entries.map(entryView), nextCursor } };
    },
  }),
];

function entryView({ at, actor: { type, id, name }, target, ...entry }: AuditEntryRecord): AuditEntryView {
  const copied = Object.entries(target).map(([field, value]) => [field, Array.isArray(value) ? [...value] : value]);
  return { ...entry, at: at.toISOString(), actor: { type, id, name }, target: Object.fromEntries(copied) };
}

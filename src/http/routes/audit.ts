import type { AuditEntryRecord } from '../../services/audit-entries/audit-entries.ts';
import { listAuditEntries, listInstanceAuditEntries } from '../../wire/contract/audit.ts';
import type { AuditEntryView } from '../../wire/audit.ts';
import { type Route, instanceRoute, organizationRoute } from '../route.ts';

/** docs/interface.md 6 */
export const auditRoutes: readonly Route[] = [
  instanceRoute({
    ...listInstanceAuditEntries,
    action: 'audit.list_instance',
    async handle({ auditEntries }, access, { query }) {
      const { entries, nextCursor } = await auditEntries.listInstance(access, query);
      return { status: 200, body: { entries: entries.map(entryView), nextCursor } };
    },
  }),
  organizationRoute({
    ...listAuditEntries,
    action: 'audit.list',
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

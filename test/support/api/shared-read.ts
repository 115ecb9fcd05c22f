import { randomUUID } from 'node:crypto';
import type { AuditedSecretSync } from '../../../src/store/audit.ts';
import type { TestServices, World } from './services.ts';

/** Writes an entry of the audit that seven SecretSyncs share; the second one has a source with a name. */
export async function recordSharedRead(
  { controllerAudit, database }: TestServices,
  slugs: World['slugs'],
): Promise<readonly AuditedSecretSync[]> {
  const secretSyncs = Array.from({ length: 7 }, (_, index): AuditedSecretSync => {
    const named = { name: `team-a/web-${index}`, uid: randomUUID(), requestId: randomUUID() };
    return index === 1 ? { ...named, source: 'base' } : named;
  });
  const { rows } = await database.pool.query<{ id: string }>('SELECT id FROM organization WHERE slug = $1', [
    slugs.organization,
  ]);
  await controllerAudit.record({
    organizationId: rows[0]?.id ?? null,
    actor: { type: 'service_token', id: randomUUID(), name: 'SecretSyncs of team-a (cluster test)' },
    action: 'secret.list',
    target: { ...slugs, cluster: 'test', revision: 1, revisionId: randomUUID(), secrets: 1, secretSyncs },
    outcome: 'success',
    requestId: secretSyncs[0]?.requestId ?? '',
    sourceAddress: null,
    label: '[Service Token]',
    credential: null,
    cluster: 'test',
  });
  return secretSyncs;
}

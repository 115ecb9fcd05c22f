import type { AuditEntryView } from '../../../wire/audit.ts';
import { apiPath } from '../../../client/api-client.ts';
import { defineCommand } from '../../command.ts';
import { usageError } from '../../cli-error.ts';
import { choice, flag, integer, organizationOption, text } from '../../options.ts';

/** `audit`: docs/interface.md 6. */
export const auditCommand = defineCommand({
  summary: 'Read the audit log of an organization or of the server',
  description:
    'Newest first: who did what, and what was refused. Entries never contain a value. If another user created the token, that user follows the actor.',
  options: {
    ...organizationOption,
    instance: flag('--instance', 'Entries of no organization, such as users and their tokens (for administrators)'),
    limit: integer('--limit <n>', 'Maximum number of entries', { min: 1, max: 1000, default: 100 }),
    action: text('--action <action>', 'Only this action, such as secret.list, or prefix, such as secret.'),
    actor: text('--actor <uuid>', 'Only this user or token'),
    actorType: choice('--actor-type <type>', 'Only this type of actor', [
      'user',
      'service_token',
      'resource',
      'system',
    ]),
    since: text('--since <time>', 'Only since this time, such as 2027-01-31T12:00:00Z'),
    cursor: text('--cursor <cursor>', 'Continue after a page: nextCursor of --output json'),
  },
  examples: [
    { line: 'audit -o acme --limit 20', note: 'The last 20 entries' },
    { line: 'audit -o acme --action snapshot. --since 2027-01-31T00:00:00Z', note: 'Snapshots and restores' },
    { line: 'audit -o acme --actor-type service_token --output json', note: 'Actions of service tokens' },
    { line: 'audit --instance --action personal_token.', note: 'Who created and revoked personal tokens' },
  ],
  async run(context, { options }) {
    const { limit, action, actor, actorType, since, cursor, instance, organization } = options;
    if (instance && organization !== undefined) {
      throw usageError('--instance and -o cannot be combined: an entry belongs to the instance or to an organization');
    }
    const path = instance ? '/audit' : apiPath`/audit/${context.organization({ organization })}`;
    const query = { limit, action, actor, actorType, since, cursor };
    const list = await context.api().get<{ entries: AuditEntryView[]; nextCursor: string | null }>(path, { query });
    await context.printer.list({
      value: list,
      rows: list.entries,
      columns: [
        { title: 'AT', cell: ({ at }) => at },
        { title: 'ACTOR', cell: actorText },
        { title: 'ACTION', cell: ({ action: done }) => done },
        { title: 'OUTCOME', cell: ({ outcome }) => outcome },
        { title: 'TARGET', cell: ({ target }) => targetText(target) },
        { title: 'FROM', cell: ({ sourceAddress }) => sourceAddress },
        // A separate column: beside the actor it would label a user who creates a service token as one.
        { title: 'LABEL', cell: ({ label }) => label },
      ],
      name: ({ id }) => id,
      whenEmpty: 'There are no such entries.',
    });
    if (list.nextCursor !== null)
      context.io.note(`Older entries are not shown; continue with --cursor ${list.nextCursor}`);
  },
});

const maxNames = 5;

/** An older server returns no credential. */
function actorText({
  actor: { name },
  credential,
}: Omit<AuditEntryView, 'credential'> & Partial<AuditEntryView>): string {
  const createdBy = credential?.createdBy ?? null;
  if (createdBy === null) return name;
  return createdBy.derived ? `${name} (token from ${createdBy.name})` : `${name} (token by ${createdBy.name})`;
}

function targetText(target: AuditEntryView['target']): string {
  return Object.entries(target)
    .filter(([, value]) => value !== null)
    .map(([field, value]) => `${field}=${Array.isArray(value) ? namesText(value) : String(value)}`)
    .join(' ');
}

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).join(',');
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown;
}

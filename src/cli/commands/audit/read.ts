import type { AuditEntryView } from '../../../wire/audit.ts';
import { call } from '../../../client/call.ts';
import { auditActions } from '../../../wire/audit-actions.ts';
import { defineCommand } from '../../core/command.ts';
import { usageError } from '../../core/cli-error.ts';
import { choice, flag, integer, organizationOption, text } from '../../core/options.ts';
import { timeOption } from '../../core/time-option.ts';
import { clusterColumn } from '../vouching-cluster.ts';
import { actorId } from './actor.ts';
import { time } from '../../terminal/time.ts';

/** `audit`: docs/interface.md 6. */
export const auditCommand = defineCommand({
  summary: 'Read the audit log of an organization or of the server',
  description:
    'Newest first: who did what, and what was refused. Entries never contain a value. If another user created the token of the actor, that user follows in parentheses.',
  options: {
    ...organizationOption,
    instance: flag('--instance', 'Entries of no organization, such as users and their tokens (for administrators)'),
    limit: integer('--limit <n>', 'Maximum number of entries', { min: 1, max: 1000, default: 100 }),
    action: text('--action <action>', 'Only this action (secret.list) or group of actions (secret.)'),
    actor: text('--actor <actor>', 'Only this user (e-mail address or id) or service token (name or id)'),
    actorType: choice('--actor-type <type>', 'Only this type of actor', [
      'user',
      'service_token',
      'resource',
      'system',
    ]),
    since: timeOption('--since <time>', 'Only since this time: 2h, 7d, 2027-01-31 or 2027-01-31T12:00:00Z'),
    cursor: text('--cursor <cursor>', 'Continue after a page: nextCursor of --output json'),
  },
  examples: [
    { line: 'audit -o acme --limit 20', note: 'The last 20 entries' },
    { line: 'audit -o acme --action snapshot. --since 7d', note: 'Snapshots and restores of the last 7 days' },
    { line: 'audit -o acme --actor ann@example.com --since 1h', note: 'What Ann did in the last hour' },
    { line: 'audit -o acme --actor-type service_token --output json', note: 'Actions of service tokens' },
    { line: 'audit --instance --action personal_token.', note: 'Who created and revoked personal tokens' },
  ],
  async run(context, { options }) {
    const { limit, action, actorType, since, cursor, instance, organization } = options;
    if (instance && organization !== undefined) {
      throw usageError('--instance and -o cannot be combined: an entry belongs to the instance or to an organization');
    }
    const owner = instance ? undefined : await context.organization({ organization });
    const actor = options.actor === undefined ? undefined : await actorId(context.api(), options.actor, owner);
    const query = { limit: String(limit), action, actor, actorType, since, cursor };
    const { body: list } =
      owner === undefined
        ? await call(context.api(), 'GET /audit', { query })
        : await call(context.api(), 'GET /audit/{org}', { params: { org: owner }, query });
    await context.printer.list({
      value: list,
      rows: list.entries,
      columns: [
        { title: 'AT', cell: ({ at }) => time(at) },
        { title: 'ACTOR', cell: actorText, isCut: true },
        ...clusterColumn(list.entries, ({ cluster }) => cluster),
        { title: 'ACTION', cell: ({ action: done }) => done },
        { title: 'OUTCOME', cell: ({ outcome }) => outcome },
        { title: 'TARGET', cell: (entry) => targetText(entry, { isWhole: instance }), isCut: true },
        { title: 'FROM', cell: ({ sourceAddress }) => sourceAddress },
        // A separate column: beside the actor it would label a user who creates a service token as one.
        { title: 'LABEL', cell: ({ label }) => label },
      ],
      name: ({ id }) => id,
      whenEmpty: emptyText(action),
    });
    if (list.nextCursor !== null)
      context.io.note(`Older entries are not shown; continue with --cursor ${list.nextCursor}`);
  },
});

const maxNames = 5;

function actorText({ actor: { name }, credential }: AuditEntryView): string {
  const createdBy = credential?.createdBy ?? null;
  if (createdBy === null) return name;
  return createdBy.derived ? `${name} (token from ${createdBy.name})` : `${name} (token by ${createdBy.name})`;
}

/**
 * The target on one line: its place first, as `shop/production`, then names, then the rest without ids beside which a name
 * or number says the same, and without the cluster that has a column. --output json has everything.
 */
function targetText(
  { target: { organization, project, environment, ...target }, cluster }: AuditEntryView,
  { isWhole }: { isWhole: boolean },
): string {
  const slugs = [isWhole ? organization : undefined, project, environment];
  const place = slugs.filter((slug) => typeof slug === 'string').join('/');
  const rest = Object.entries(target)
    .filter(([field, value]) => !isNothing(value) && !(field.endsWith('Id') && field.slice(0, -2) in target))
    .filter(([field, value]) => field !== 'cluster' || value !== cluster)
    .toSorted(([, one], [, other]) => Number(Array.isArray(other)) - Number(Array.isArray(one)))
    .map(([field, value]) => `${field}=${Array.isArray(value) ? namesText(value) : String(value)}`);
  return [place, ...rest].filter((part) => part !== '').join(' ');
}

function isNothing(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

/** Why there is nothing: perhaps because no server has ever recorded the action. */
function emptyText(action: string | undefined): string {
  const isGroup = action?.endsWith('.') === true;
  if (action === undefined || auditActions.some((known) => known === action || (isGroup && known.startsWith(action)))) {
    return 'There are no such entries.';
  }
  const [group = ''] = action.split('.');
  const alike = auditActions.filter((known) => known.startsWith(`${group}.`));
  const groups = new Set(auditActions.map((known) => known.replace(/\..*$/, '.')));
  const shown = alike.length > 0 ? alike : [...groups];
  return `There are no such entries. No action is called ${action}; there are: ${shown.join(', ')}`;
}

function namesText(named: readonly (string | { readonly name: string })[]): string {
  const names = named.map((one) => (typeof one === 'string' ? one : one.name));
  const shown = names.slice(0, maxNames).join(',');
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown;
}

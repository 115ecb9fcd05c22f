import type { ConsumerView } from '../../../wire/consumers.ts';
import { defineCommand } from '../../core/command.ts';
import { choice, scopeOptions, text } from '../../core/options.ts';
import { time } from '../../terminal/time.ts';
import { shownScope } from '../secret/secrets-api.ts';
import { allConsumers } from './consumers-api.ts';

/** `consumers`: docs/interface.md 4.15. */
export const consumersCommand = defineCommand({
  summary: 'List the SecretSyncs that read an environment',
  description:
    'In all clusters, one line for each source. REVISION is what the Secret holds. HEALTH is "stale" if the controller of the cluster has not reported for 3 minutes; the rest of the line may then be out of date. ROLLOUT is the reason of the condition Converged. You see namespaces if you may write to the environment.',
  options: {
    ...scopeOptions,
    cluster: text('--cluster <cluster>', 'Only this cluster'),
    health: choice('--health <health>', 'Only this health', ['healthy', 'progressing', 'stalled', 'suspended']),
    reason: text('--reason <reason>', 'Only this reason of the condition Ready, such as AccessDenied'),
  },
  examples: [
    { line: 'consumers', note: 'Who reads the environment of this directory' },
    { line: 'consumers -e production --health stalled', note: 'What needs a person' },
    { line: 'consumers -e production --output json', note: 'For a program' },
  ],
  async run(context, { options }) {
    const scope = await context.scope(options);
    const { cluster, health, reason } = options;
    const consumers = await allConsumers(context.api(), scope, { cluster, health, reason });
    await context.printer.list<ConsumerView>({
      value: { consumers, nextCursor: null },
      rows: consumers,
      columns: [
        { title: 'CLUSTER', cell: (consumer) => consumer.cluster, isCut: true },
        { title: 'NAMESPACE', cell: ({ namespace }) => namespace },
        { title: 'NAME', cell: ({ name }) => name },
        { title: 'SOURCE', cell: ({ source }) => source },
        { title: 'SECRET', cell: ({ secretName }) => secretName },
        { title: 'REVISION', cell: revisionCell },
        { title: 'HEALTH', cell: (consumer) => (consumer.stale ? 'stale' : consumer.health) },
        { title: 'REASON', cell: (consumer) => consumer.reason },
        { title: 'ROLLOUT', cell: ({ rollout }) => rollout?.reason },
        { title: 'CHANGED', cell: ({ changedAt }) => time(changedAt) },
      ],
      name: ({ uid }) => uid,
      whenEmpty: `No SecretSync reads ${shownScope(scope)}`,
    });
  },
});

function revisionCell({ syncedRevision, pinned }: ConsumerView): string | null {
  if (syncedRevision === null) return null;
  return pinned ? `${syncedRevision} (pinned)` : String(syncedRevision);
}

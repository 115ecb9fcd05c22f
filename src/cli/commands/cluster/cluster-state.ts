import { call } from '../../../client/call.ts';
import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { time } from '../../terminal/time.ts';
import { servedClusterArgument } from './cluster-rules.ts';

interface StateCommand {
  readonly endpoint: 'POST /clusters/{name}/disable' | 'POST /clusters/{name}/enable';
  readonly verb: 'disable' | 'enable';
  readonly summary: string;
  readonly description: string;
  readonly note: string;
  /** Undefined for a command that does not ask. */
  readonly question?: (cluster: string) => string;
}

/** `cluster disable` and `cluster enable`, for administrators of the server. */
function stateCommand({ endpoint, verb, summary, description, note, question }: StateCommand): CommandDefinition {
  return defineCommand({
    summary,
    description,
    arguments: { cluster: servedClusterArgument },
    examples: [{ line: `cluster ${verb} fra-1`, note }],
    async run(context, { args: { cluster } }) {
      if (question !== undefined) await context.confirm(question(cluster));
      const { body: value } = await call(context.api(), endpoint, { params: { name: cluster } });
      await context.printer.object({
        value,
        fields: [
          ['Name', value.name],
          ['State', value.state],
          ['Home', value.isHome ? 'yes' : 'no'],
          ['Seen', time(value.seenAt) ?? 'never'],
        ],
        name: value.name,
      });
    },
  });
}

export const clusterDisableCommand = stateCommand({
  endpoint: 'POST /clusters/{name}/disable',
  verb: 'disable',
  summary: 'Stop doing anything for a cluster',
  description:
    'Nothing is read or changed for the cluster, and the tokens of its ServiceTokens are suspended. Its Secrets stay as they are. A token that users put into the cluster by hand works on: revoke it with `keyframe token revoke-service`. `keyframe cluster enable` takes it back. For administrators of the server.',
  note: 'Asks for confirmation',
  question: (cluster) => `Disable cluster ${cluster}? Its resources get nothing until it is enabled.`,
});

export const clusterEnableCommand = stateCommand({
  endpoint: 'POST /clusters/{name}/enable',
  verb: 'enable',
  summary: 'Serve a cluster again',
  description:
    'Its reconciles resume the tokens that were suspended. A cluster that was forgotten is served again without the tokens that it had. For administrators of the server.',
  note: 'After `cluster disable`',
});

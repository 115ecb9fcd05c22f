import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { scopeOptions } from '../../core/options.ts';
import { scopeParams } from '../../settings/scope.ts';
import { clusterColumn } from '../vouching-cluster.ts';
import { scopeFlags } from '../secret/secrets-api.ts';
import { time } from '../../terminal/time.ts';

/** `snapshot list`: docs/interface.md 4.2 and 4.9. */
export const snapshotListCommand = defineCommand({
  summary: 'List the snapshots of an environment',
  description: 'Newest first.',
  options: scopeOptions,
  examples: [
    { line: 'snapshot list', note: 'The snapshots of the environment of this directory' },
    { line: 'snapshot list -o acme -p shop -e production --output json', note: 'For a program' },
  ],
  async run(context, { options }) {
    const scope = await context.scope(options);
    const request = { params: scopeParams(scope) };
    const { body: list } = await call(context.api(), 'GET /snapshots/{org}/{project}/{env}', request);
    await context.printer.list({
      value: list,
      rows: list.snapshots,
      columns: [
        { title: 'ID', cell: ({ id }) => id },
        { title: 'NAME', cell: ({ name }) => name },
        { title: 'SECRETS', cell: ({ secretCount }) => secretCount },
        { title: 'BY', cell: ({ createdByName }) => createdByName, isCut: true },
        ...clusterColumn(list.snapshots, ({ createdByCluster }) => createdByCluster),
        { title: 'AT', cell: ({ createdAt }) => time(createdAt) },
        { title: 'DESCRIPTION', cell: ({ description }) => description, isCut: true },
      ],
      name: ({ id }) => id,
      whenEmpty: `There are no snapshots yet. Create one: keyframe snapshot create ${scopeFlags(scope)}`,
    });
  },
});

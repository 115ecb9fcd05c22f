import { call } from '../../../client/call.ts';
import type { ForgottenClusterView } from '../../../wire/clusters.ts';
import { defineCommand } from '../../core/command.ts';
import { planOptions } from '../../core/options.ts';
import { counted } from '../../../lib/counted.ts';
import { nothingChanged } from '../secret/shown-plan.ts';
import { servedClusterArgument } from './cluster-rules.ts';

/** `cluster forget <cluster>`, for administrators of the server. */
export const clusterForgetCommand = defineCommand({
  summary: 'Revoke the tokens of a cluster that is gone',
  description:
    'Revokes the tokens of its ServiceTokens and its keyless tokens, and removes what it reported. Lists the Secrets that stay behind in the cluster. Organizations keep their rules for it. This cannot be undone. You must type the name to confirm. For administrators of the server.',
  arguments: { cluster: servedClusterArgument },
  options: { ...planOptions },
  examples: [
    { line: 'cluster forget fra-1 --plan', note: 'Its tokens, and the Secrets that would stay behind' },
    { line: 'cluster forget fra-1', note: 'You must type the name again to confirm' },
  ],
  async run(context, { args: { cluster }, options }) {
    const api = context.api();
    const isPlan = options.isPlan || options.isDryRun;
    const params = { name: cluster };
    const plan = async (): Promise<ForgottenClusterView> =>
      (await call(api, 'DELETE /clusters/{name}', { params, query: { plan: 'true' } })).body;
    if (!isPlan) {
      const has = context.isConfirmed ? '' : ` It has ${belongings(await plan())}.`;
      await context.confirmByTyping(
        `This forgets cluster ${cluster} with its tokens, and cannot be undone.${has}`,
        cluster,
      );
    }
    const value = isPlan ? await plan() : (await call(api, 'DELETE /clusters/{name}', { params, query: {} })).body;
    await context.printer.object({
      value,
      fields: [
        [isPlan ? 'Tokens' : 'Revoked tokens', value.tokenCount],
        ...value.tokens.map(({ organization, name, id }) => ['Token', `${organization}: ${name} (${id})`] as const),
        ['Secrets that stay behind', value.secretCount],
        ...value.secrets.map(({ namespace, name }) => ['Secret', `${namespace}/${name}`] as const),
      ],
      name: cluster,
    });
    if (!isPlan) return;
    const summary = `${counted(value.tokenCount, 'token')} would be revoked, and ${counted(value.secretCount, 'Secret')} would stay behind`;
    context.io.note(nothingChanged(`cluster ${cluster}`, summary));
  },
});

function belongings({ tokenCount, secretCount }: ForgottenClusterView): string {
  return `${counted(tokenCount, 'token')} and ${counted(secretCount, 'Secret')}`;
}

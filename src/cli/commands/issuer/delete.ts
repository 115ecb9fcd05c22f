import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { CliError } from '../../core/cli-error.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { flag } from '../../core/options.ts';
import { findIssuer, issuerArgument, refuseClusterIssuer, usageText } from './issuer-view.ts';

/** `issuer delete <issuer>`, for administrators of the server. */
export const issuerDeleteCommand = defineCommand({
  summary: 'Trust an issuer no longer',
  description:
    'An issuer that proves service tokens stays, unless --force revokes them in all organizations. That cannot be undone, so you must type the name to confirm. For administrators of the server.',
  arguments: { issuer: issuerArgument },
  options: { force: flag('--force', 'Also revoke the service tokens that it proves') },
  examples: [
    { line: 'issuer delete github', note: 'Asks for confirmation' },
    { line: 'issuer delete github --force', note: 'You must type the name again to confirm' },
  ],
  async run(context, { args: { issuer: name }, options: { force } }) {
    const api = context.api();
    const issuer = await findIssuer(api, name);
    refuseClusterIssuer(issuer, `If the cluster is gone, forget it with its issuer: keyframe cluster forget ${name}`);
    const revoked = usageText(issuer);
    if (!force && issuer.tokens > 0) {
      throw new CliError(exitCodes.conflict, `trusted issuer ${name} proves ${revoked}`, {
        next: [`Revoke them with it: keyframe issuer delete ${name} --force`],
      });
    }
    if (force && issuer.tokens > 0) {
      await context.confirmByTyping(`This deletes trusted issuer ${name} and revokes ${revoked} for good.`, name);
    } else {
      await context.confirm(`Delete trusted issuer ${name}?`);
    }
    const query = { expectedVersion: String(issuer.version), ...(force ? { force: 'true' as const } : {}) };
    await call(api, 'DELETE /trusted-issuers/{name}', { params: { name }, query });
    const sentence = force && issuer.tokens > 0 ? `Deleted ${name} and revoked ${revoked}.` : `Deleted ${name}.`;
    const value = { kind: 'trusted_issuer', action: 'deleted', id: null, name } satisfies DeletionOutput;
    await context.printer.done({ value, sentence, name });
  },
});

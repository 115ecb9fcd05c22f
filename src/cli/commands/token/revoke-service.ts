import { call } from '../../../client/call.ts';
import { tokenEndpoints } from '../../../client/endpoint-sets.ts';
import { defineCommand } from '../../core/command.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { findServiceToken, isAlreadyRevoked, serviceTokenIdOption, tokenTitle } from './find-token.ts';
import { homeParams, shownHome, tokenHomeOf, tokenHomeOptions } from './token-home.ts';

/** `token revoke-service`: docs/interface.md 4.8 and 4.9. */
export const tokenRevokeServiceCommand = defineCommand({
  summary: 'Revoke a service token immediately',
  description:
    'The next request with the token is refused. A token that is revoked already is no error. Only the revocation of a keyless token can be undone (token reinstate).',
  options: {
    ...tokenHomeOptions,
    ...serviceTokenIdOption,
  },
  examples: [
    { line: 'token revoke-service -o acme --id ci', note: 'Asks for confirmation' },
    { line: 'token revoke-service -o acme --id 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --yes', note: 'In a script' },
  ],
  async run(context, { options }) {
    const home = await tokenHomeOf(context, options);
    const token = await findServiceToken(context, home, { given: options.id, isRevoked: false, orRevoked: true });
    const { id, name = null } = token;
    const value = { kind: 'service_token', action: 'revoked', id, name } satisfies DeletionOutput;
    if (isAlreadyRevoked(token)) {
      const sentence = `Service token ${tokenTitle(token)} is revoked already.`;
      return await context.printer.done({ value, sentence, name: id });
    }
    await context.confirm(`Revoke service token "${name ?? id}" of ${shownHome(home)}?`);
    await call(context.api(), tokenEndpoints(home).revoke, { params: { ...homeParams(home), id } });
    await context.printer.done({ value, sentence: `Service token ${tokenTitle(token)} is revoked.`, name: id });
  },
});

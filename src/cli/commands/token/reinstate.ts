import { call } from '../../../client/call.ts';
import { tokenEndpoints } from '../../../client/endpoint-sets.ts';
import { defineCommand } from '../../core/command.ts';
import { findServiceToken, revokedTokenIdOption, tokenTitle } from './find-token.ts';
import { homeParams, tokenHomeOf, tokenHomeOptions } from './token-home.ts';

/** `token reinstate`: docs/interface.md 2.4. */
export const tokenReinstateCommand = defineCommand({
  summary: 'Undo the revocation of a keyless service token',
  description:
    'Only for keyless tokens, with which the SecretSyncs of a namespace read. They read again immediately if an AccessGrant still allows it.',
  options: {
    ...tokenHomeOptions,
    ...revokedTokenIdOption,
  },
  examples: [
    {
      line: 'token reinstate -o acme --id 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e',
      note: 'SecretSyncs read with it again',
    },
  ],
  async run(context, { options }) {
    const home = await tokenHomeOf(context, options);
    const { id } = await findServiceToken(context, home, { given: options.id, isRevoked: true });
    const params = { ...homeParams(home), id };
    const { body: token } = await call(context.api(), tokenEndpoints(home).reinstate, { params });
    const sentence = `Service token ${tokenTitle(token)} is reinstated.`;
    await context.printer.done({ value: token, sentence, name: token.id });
  },
});

import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { keptSignIns } from './kept-sign-ins.ts';
import { findPersonalToken, isAlreadyRevoked, personalTokenArgument, tokenTitle } from './find-token.ts';

/** `token revoke <id>`. */
export const tokenRevokeCommand = defineCommand({
  summary: 'Revoke one of your personal tokens',
  description:
    'The next request with the token is refused. This cannot be undone. Passkeys, linked accounts and other tokens that were set up with the token stay: those that you have set up since the token was created are printed. If the token leaked, remove those that you do not know.',
  arguments: { given: personalTokenArgument },
  examples: [
    { line: 'token revoke laptop', note: 'Asks for confirmation' },
    { line: 'token revoke 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --yes', note: 'In a script' },
  ],
  async run(context, { args: { given } }) {
    const token = await findPersonalToken(context, given);
    const { id, name = null } = token;
    const value = { kind: 'personal_token', action: 'revoked', id, name } satisfies DeletionOutput;
    if (isAlreadyRevoked(token)) {
      const sentence = `Personal token ${tokenTitle(token)} is revoked already.`;
      return await context.printer.done({ value, sentence, name: id });
    }
    await context.confirm(`Revoke your personal token "${name ?? id}"?`);
    // Before: the command may use this token.
    const kept = await keptSignIns(context.api(), id);
    await call(context.api(), 'DELETE /personal-tokens/{id}', { params: { id } });
    await context.printer.done({ value, sentence: `Personal token ${tokenTitle(token)} is revoked.`, name: id });
    if (kept.length === 0) return;
    context.io.note(
      `These were set up since the token was created, and still sign you in: ${kept.join(', ')}. ` +
        'If one is not yours, remove it with `keyframe passkey remove`, `keyframe identity remove` or `keyframe token revoke`.',
    );
  },
});

import { call } from '../../../client/call.ts';
import type { CreatedLinkView } from '../../../wire/sign-in-links.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { argument } from '../../core/options.ts';
import { findUser } from './user-view.ts';

/** `user sign-in-link <user>`, for administrators of the server. */
export const userSignInLinkCommand = defineCommand({
  summary: 'Create a link with which a user signs in once; it is shown once',
  description:
    'For a user who has lost all ways to sign in, or is new. Send them the link yourself: anyone who has it can use it. It works once, for 72 hours, and ends the one before. The audit log names you as its creator. Organizations that forbid impersonation refuse its session.',
  arguments: { user: argument('<user>', 'E-mail address or id of the user') },
  examples: [{ line: 'user sign-in-link ann@example.com', note: 'Print a link for Ann' }],
  async run(context, { args }) {
    const client = context.api();
    const { id, email } = await findUser(client, args.user);
    const { body: created } = await call(client, 'POST /users/{id}/sign-in-links', { params: { id } });
    await printLink(context, created, `With it, ${email} signs in to a browser.`);
  },
});

/** Prints a link on standard output, and what it is for on standard error. */
export async function printLink(
  { io, printer }: Pick<CommandContext, 'io' | 'printer'>,
  created: CreatedLinkView,
  purpose: string,
): Promise<void> {
  await printer.lines(created, [created.link]);
  io.note(`${purpose} The link works once, until ${created.expiresAt}, and is shown only here.`);
}

import { call } from '../../../client/call.ts';
import { usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { flag, optionalArgument, text } from '../../core/options.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { findUser } from '../user/user-view.ts';

/** `session end [id]`. */
export const sessionEndCommand = defineCommand({
  summary: 'Sign out of a browser, or of all of them',
  description:
    'The next request of the browser is refused, and its streams end. Tokens, passkeys and linked accounts keep working. With `--all`, sign-in links and invitations that the user created and that wait end, too.',
  arguments: { id: optionalArgument('[id]', 'Id of the session, as `session list` shows it') },
  options: {
    all: flag('--all', 'All sessions'),
    user: text('--user <user>', 'E-mail address or id of another user (for administrators); requires --all'),
  },
  examples: [
    { line: 'session end 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', note: 'One browser' },
    { line: 'session end --all', note: 'Every browser' },
    { line: 'session end --all --user ann@example.com', note: 'Every browser of another user' },
  ],
  async run({ api, printer }, { args: { id }, options: { all, user } }) {
    if (all !== (id === undefined)) {
      throw usageError('either the id of a session or --all is required', 'See your sessions: keyframe session list');
    }
    if (user !== undefined && !all) {
      throw usageError('--user requires --all', 'End all sessions of the user: keyframe session end --all --user …');
    }
    await (id === undefined ? endAll({ api, printer }, user) : endOne({ api, printer }, id));
  },
});

type Context = Pick<CommandContext, 'api' | 'printer'>;

async function endOne({ api, printer }: Context, id: string): Promise<void> {
  await call(api(), 'DELETE /sessions/{id}', { params: { id } });
  const value = { kind: 'session', action: 'ended', id, name: null } satisfies DeletionOutput;
  await printer.done({ value, sentence: `Session ${id} has ended.`, name: id });
}

async function endAll({ api, printer }: Context, user: string | undefined): Promise<void> {
  const client = api();
  const found = user === undefined ? undefined : await findUser(client, user);
  if (found === undefined) await call(client, 'DELETE /sessions');
  else await call(client, 'DELETE /users/{id}/sessions', { params: { id: found.id } });
  const whose = found === undefined ? 'your sessions' : `sessions of ${found.email}`;
  const name = found?.email ?? null;
  const value = { kind: 'session', action: 'ended', id: null, name } satisfies DeletionOutput;
  await printer.done({ value, sentence: `All ${whose} have ended.`, name: name ?? '' });
}

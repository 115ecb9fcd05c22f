import { call } from '../../../client/call.ts';
import type { SessionView } from '../../../wire/sessions.ts';
import { defineCommand } from '../../core/command.ts';
import { text } from '../../core/options.ts';
import { time } from '../../terminal/time.ts';
import { findUser } from '../user/user-view.ts';

const methods: Readonly<Record<SessionView['signedInWith'], string>> = {
  personal_token: 'personal token',
  oidc: 'OpenID Connect',
  link: 'sign-in link',
  passkey: 'passkey',
};

/** `session list`. */
export const sessionListCommand = defineCommand({
  summary: 'List the browsers in which you are signed in',
  description: 'Newest first. ENDS is when the session ends if it is not used again.',
  options: { user: text('--user <user>', 'E-mail address or id of another user (for administrators)') },
  examples: [
    { line: 'session list', note: 'Your own sessions' },
    { line: 'session list --user ann@example.com', note: 'Those of another user' },
  ],
  async run({ api, printer }, { options: { user } }) {
    const client = api();
    const found = user === undefined ? undefined : await findUser(client, user);
    const { body: list } =
      found === undefined
        ? await call(client, 'GET /sessions')
        : await call(client, 'GET /users/{id}/sessions', { params: { id: found.id } });
    await printer.list({
      value: list,
      rows: list.sessions,
      columns: [
        { title: 'ID', cell: ({ id }) => id },
        { title: 'SIGNED IN', cell: ({ createdAt }) => time(createdAt) },
        { title: 'WITH', cell: ({ signedInWith }) => methods[signedInWith] },
        { title: 'LAST USED', cell: ({ lastUsedAt }) => time(lastUsedAt) },
        { title: 'ENDS', cell: ({ idleExpiresAt }) => time(idleExpiresAt) },
        { title: 'ADDRESS', cell: ({ sourceAddress }) => sourceAddress },
        { title: 'BROWSER', cell: ({ userAgent }) => userAgent, isCut: true },
      ],
      name: ({ id }) => id,
      whenEmpty: 'There are no sessions.',
    });
  },
});

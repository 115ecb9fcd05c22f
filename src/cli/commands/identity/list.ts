import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { time } from '../../terminal/time.ts';
import { identityOwner, identityUserOption } from './identity-owner.ts';

/** `identity list`. */
export const identityListCommand = defineCommand({
  summary: 'List the accounts of OpenID Connect with which you sign in to a browser',
  description:
    'Newest first. SUBJECT is the id of the user at the issuer. CREATED BY names another person with whose token or link an account was linked. To link an account, open /sign-in-methods of the server in a browser.',
  options: identityUserOption,
  examples: [
    { line: 'identity list', note: 'Your own accounts' },
    { line: 'identity list --user ann@example.com', note: 'Those of another user' },
  ],
  async run({ api, printer }, { options: { user } }) {
    const client = api();
    const { userId } = await identityOwner(client, user);
    const { body: list } =
      userId === undefined
        ? await call(client, 'GET /identities')
        : await call(client, 'GET /users/{id}/identities', { params: { id: userId } });
    await printer.list({
      value: list,
      rows: list.identities,
      columns: [
        { title: 'ID', cell: ({ id }) => id },
        { title: 'ISSUER', cell: ({ issuer }) => issuer },
        { title: 'SUBJECT', cell: ({ subject }) => subject, isCut: true },
        { title: 'LINKED', cell: ({ createdAt }) => time(createdAt) },
        { title: 'LAST SIGN-IN', cell: ({ lastSignInAt }) => time(lastSignInAt) ?? 'never' },
        { title: 'CREATED BY', cell: ({ createdBy }) => createdBy?.name },
      ],
      name: ({ id }) => id,
      whenEmpty: 'There are no linked accounts. To link one, open /sign-in-methods of the server in a browser.',
    });
  },
});

import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { requiredText } from '../../core/options.ts';
import { expiryOf, lifetimeOption } from './lifetime.ts';
import { printNewPersonalToken } from './personal-token-view.ts';

/** `token create`. */
export const tokenCreateCommand = defineCommand({
  summary: 'Create a personal token for yourself; it is shown once',
  description: 'It has your permissions, and expires no later than the token that creates it.',
  createsToken: true,
  options: {
    name: requiredText('-n, --name <name>', 'Name of the token'),
    lifetime: lifetimeOption('when the current token expires'),
  },
  examples: [
    { line: 'token create -n laptop --expires-in 90', note: 'A token for another machine' },
    { line: 'token create -n demo --expires-in 1h --output token > token.txt', note: 'Write only the token to a file' },
  ],
  async run({ api, io, printer }, { options: { name, lifetime } }) {
    const client = api();
    const body = { name, ...(await expiryOf(client, lifetime)) };
    const { body: created } = await call(client, 'POST /personal-tokens', { body });
    await printNewPersonalToken({ io, printer }, created);
  },
});

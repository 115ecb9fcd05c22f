import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { meFields } from './me-fields.ts';

/** `whoami`. */
export const whoamiCommand = defineCommand({
  summary: 'Show the identity and permissions of the token',
  examples: [
    { line: 'whoami', note: 'Your identity, roles and expiry' },
    { line: 'whoami --output json', note: 'For a program' },
  ],
  async run({ api, configuration, printer }) {
    const { body: me } = await call(api(), 'GET /me');
    await printer.object({
      value: me,
      fields: [['Server', configuration.url], ...meFields(me)],
      name: me.name,
    });
  },
});

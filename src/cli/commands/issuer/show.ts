import { defineCommand } from '../../core/command.ts';
import { findIssuer, issuerArgument, issuerFields } from './issuer-view.ts';

/** `issuer show <issuer>`, for administrators of the server. */
export const issuerShowCommand = defineCommand({
  summary: 'Show a trusted issuer with its keys',
  description: 'For administrators of the server.',
  arguments: { issuer: issuerArgument },
  examples: [
    { line: 'issuer show github', note: 'Its keys, its generation, and how many tokens it proves' },
    { line: 'issuer show github --output json', note: 'With the whole public keys' },
  ],
  async run(context, { args: { issuer } }) {
    const value = await findIssuer(context.api(), issuer);
    await context.printer.object({ value, fields: issuerFields(value), name: value.name });
  },
});

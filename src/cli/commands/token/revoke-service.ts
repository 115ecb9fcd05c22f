import { apiPath } from '../../../client/api-client.ts';
import { defineCommand } from '../../command.ts';
import { completing, organizationOption, requiredText } from '../../options.ts';
import type { DeletionOutput } from '../../output/shapes.ts';

/** `token revoke-service`: docs/interface.md 4.8 and 4.9. No confirmation: a leaked token must be revoked immediately. */
export const tokenRevokeServiceCommand = defineCommand({
  summary: 'Revoke a service token immediately',
  description:
    'The next request with the token is refused. There is no confirmation. Only the revocation of a keyless token can be undone (token reinstate).',
  options: {
    ...organizationOption,
    id: completing('serviceToken', requiredText('--id <uuid>', 'Id of the token, from token list-service')),
  },
  examples: [
    { line: 'token revoke-service -o acme --id 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', note: 'Revoke it immediately' },
  ],
  async run(context, { options }) {
    const { id } = options;
    await context.api().delete(apiPath`/service-tokens/${context.organization(options)}/${id}`);
    const value = { kind: 'service_token', action: 'revoked', id, name: null } satisfies DeletionOutput;
    await context.printer.done({ value, sentence: `Service token ${id} is revoked.`, name: id });
  },
});

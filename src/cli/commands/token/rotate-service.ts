import { parseDurationMs } from '../../../lib/duration.ts';
import type { CreatedServiceTokenView } from '../../../wire/service-tokens.ts';
import { apiPath } from '../../../client/api-client.ts';
import { usageError } from '../../cli-error.ts';
import { defineCommand } from '../../command.ts';
import { completing, type Option, organizationOption, requiredText } from '../../options.ts';
import { printNewServiceToken } from './service-token-view.ts';

const overlap: Option<number> = {
  flags: '--overlap <duration>',
  description: 'How long the old value stays valid, such as 1h30m or 900 (seconds); 0 revokes it immediately',
  isRequired: true,
  parse: (text) => {
    const ms = parseDurationMs(/^[0-9]+$/.test(text) ? `${text}s` : text);
    if (ms !== undefined) return ms / 1000;
    throw usageError('must be a duration such as 1h30m, 90s or 900 (seconds)');
  },
};

/** `token rotate-service`. */
export const tokenRotateServiceCommand = defineCommand({
  summary: 'Give a service token a new value; it is shown once',
  description: 'The token keeps its id, scope and permission. The new value is shown only once.',
  options: {
    ...organizationOption,
    id: completing('serviceToken', requiredText('--id <uuid>', 'Id of the token')),
    overlap,
  },
  examples: [
    {
      line: 'token rotate-service -o acme --id 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --overlap 1h',
      note: 'The old value expires in one hour',
    },
  ],
  async run(context, { options }) {
    const path = apiPath`/service-tokens/${context.organization(options)}/${options.id}/rotate`;
    const body = { overlapSeconds: options.overlap };
    await printNewServiceToken(context, await context.api().post<CreatedServiceTokenView>(path, body));
  },
});

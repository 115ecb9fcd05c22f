import { call } from '../../../client/call.ts';
import { tokenEndpoints } from '../../../client/endpoint-sets.ts';
import { usageError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { durationMs } from '../../core/duration-option.ts';
import type { Option } from '../../core/options.ts';
import { findServiceToken, serviceTokenIdOption } from './find-token.ts';
import { printNewServiceToken } from './service-token-view.ts';
import { homeParams, shownHome, tokenHomeOf, tokenHomeOptions } from './token-home.ts';

const overlap: Option<number> = {
  flags: '--overlap <duration>',
  field: 'overlapSeconds',
  description: 'How long the old value stays valid, such as 2d, 1h30m or 900 (seconds); 0 revokes it immediately',
  isRequired: true,
  parse: (text) => {
    const ms = durationMs(/^[0-9]+$/.test(text) ? `${text}s` : text);
    if (ms !== undefined) return ms / 1000;
    throw usageError('must be a duration such as 2d, 1h30m, 90s or 900 (seconds)');
  },
};

/** `token rotate-service`. */
export const tokenRotateServiceCommand = defineCommand({
  summary: 'Give a service token a new value; it is shown once',
  description:
    'The token keeps its id, scope and permission. The new value is shown only once. The old value ends after the overlap; this cannot be undone.',
  createsToken: true,
  options: {
    ...tokenHomeOptions,
    ...serviceTokenIdOption,
    overlap,
  },
  examples: [
    {
      line: 'token rotate-service -o acme --id ci --overlap 1h',
      note: 'Asks for confirmation; the old value expires in one hour',
    },
  ],
  async run(context, { options }) {
    const home = await tokenHomeOf(context, options);
    const token = await findServiceToken(context, home, { given: options.id, isRevoked: false });
    const end = options.overlap === 0 ? 'immediately' : `after ${options.overlap} seconds`;
    await context.confirm(
      `Give service token "${token.name ?? token.id}" of ${shownHome(home)} a new value? The old one ends ${end}.`,
    );
    const request = { params: { ...homeParams(home), id: token.id }, body: { overlapSeconds: options.overlap } };
    const rotated = await call(context.api(), tokenEndpoints(home).rotate, request);
    await printNewServiceToken(context, home.organization, rotated.body);
  },
});

import { call } from '../../../client/call.ts';
import { tokenEndpoints } from '../../../client/endpoint-sets.ts';
import { tokenState } from '../../../wire/token-state.ts';
import { defineCommand } from '../../core/command.ts';
import { time } from '../../terminal/time.ts';
import { findServiceToken, serviceTokenArgument } from './find-token.ts';
import { federationFields, issuerText, kindText, placesOf, scopeText } from './service-token-view.ts';
import { homeParams, tokenHomeOf, tokenHomeOptions } from './token-home.ts';

/** `token show-service <id>`: docs/interface.md 4.8. */
export const tokenShowServiceCommand = defineCommand({
  summary: 'Show a service token, and what proves it',
  description:
    'Of a federated token it shows the audience for which to request a JWT, and the claims that the JWT must have. No value of a token is ever shown again.',
  arguments: { given: serviceTokenArgument },
  options: tokenHomeOptions,
  examples: [
    { line: 'token show-service deploy -o acme', note: 'Where it is valid, and its audience if it is federated' },
    { line: 'token show-service latest -o acme -p shop', note: 'The newest one of a project, for its admins' },
  ],
  async run(context, { args: { given }, options }) {
    const home = await tokenHomeOf(context, options);
    const { id } = await findServiceToken(context, home, { given, isRevoked: false, orRevoked: true });
    const params = { ...homeParams(home), id };
    const { body: token } = await call(context.api(), tokenEndpoints(home).get, { params });
    const places = await placesOf(context, home.organization, [token]);
    const { federation, cluster, holder } = token;
    await context.printer.object({
      value: token,
      fields: [
        ['Id', token.id],
        ['Name', token.name],
        ['Scope', scopeText(token, places)],
        ['Permission', token.permission],
        ['Kind', kindText(token)],
        ...(cluster === null ? [] : [['Cluster', cluster] as const]),
        ...(holder === null ? [] : [['Namespace', holder.namespace] as const]),
        ['State', tokenState(token, new Date())],
        ['Expires', time(token.expiresAt) ?? 'never'],
        ['Last used', time(token.lastUsedAt) ?? 'never'],
        ...(federation === undefined ? [] : federationFields({ ...federation, issuer: issuerText(federation) })),
      ],
      name: token.id,
    });
  },
});

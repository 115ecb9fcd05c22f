import { call } from '../../../client/call.ts';
import { tokenEndpoints } from '../../../client/endpoint-sets.ts';
import type { ServiceTokenView } from '../../../wire/service-tokens.ts';
import { defineCommand } from '../../core/command.ts';
import { time } from '../../terminal/time.ts';
import { tokenState } from '../../../wire/token-state.ts';
import { issuerText, kindText, placesOf, scopeText } from './service-token-view.ts';
import { homeParams, tokenHomeOf, tokenHomeOptions } from './token-home.ts';

/** `token list-service`: docs/interface.md 4.8 and 4.9. */
export const tokenListServiceCommand = defineCommand({
  summary: 'List the service tokens of an organization',
  description:
    'Newest first, including revoked and expired tokens. CLUSTER is the cluster of the ServiceToken resource that manages the token. A token with a NAMESPACE is keyless: it has no value, and the controller uses it to read for the SecretSyncs of that namespace. A token with an ISSUER is federated: it has no value, and JWTs of that trusted issuer prove it.',
  options: tokenHomeOptions,
  examples: [
    { line: 'token list-service -o acme', note: 'The service tokens of an organization' },
    { line: 'token list-service -o acme -p shop', note: 'Those for one project and its environments' },
  ],
  async run(context, { options }) {
    const home = await tokenHomeOf(context, options);
    const { body: list } = await call(context.api(), tokenEndpoints(home).list, { params: homeParams(home) });
    const places = await placesOf(context, home.organization, list.serviceTokens);
    const now = new Date();
    await context.printer.list<ServiceTokenView>({
      value: list,
      rows: list.serviceTokens,
      columns: [
        { title: 'ID', cell: ({ id }) => id },
        { title: 'NAME', cell: ({ name }) => name, isCut: true },
        { title: 'SCOPE', cell: (token) => scopeText(token, places), isCut: true },
        { title: 'PERMISSION', cell: ({ permission }) => permission },
        { title: 'KIND', cell: kindText },
        { title: 'ISSUER', cell: ({ federation }) => (federation === undefined ? null : issuerText(federation)) },
        { title: 'CLUSTER', cell: ({ cluster }) => cluster },
        { title: 'NAMESPACE', cell: ({ holder }) => holder?.namespace ?? null },
        { title: 'STATE', cell: (token) => tokenState(token, now) },
        { title: 'EXPIRES', cell: ({ expiresAt }) => time(expiresAt) ?? 'never' },
        { title: 'LAST USED', cell: ({ lastUsedAt }) => time(lastUsedAt) },
      ],
      name: ({ id }) => id,
      whenEmpty: 'There are no service tokens yet. Create one: keyframe token create-service',
    });
  },
});

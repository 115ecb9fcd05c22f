import type { ServiceTokenListView, ServiceTokenView } from '../../../wire/service-tokens.ts';
import { apiPath } from '../../../client/api-client.ts';
import { defineCommand } from '../../command.ts';
import { organizationOption } from '../../options.ts';
import { time } from '../../terminal/time.ts';
import { tokenState } from './token-state.ts';
import { placesOf, scopeText } from './service-token-view.ts';

/** `token list-service`: docs/interface.md 4.8 and 4.9. */
export const tokenListServiceCommand = defineCommand({
  summary: 'List the service tokens of an organization',
  description:
    'Newest first, including revoked and expired tokens. CLUSTER is the cluster of the ServiceToken resource that manages the token. A token with a NAMESPACE is keyless: it has no value, and the controller uses it to read for the SecretSyncs of that namespace.',
  options: organizationOption,
  examples: [{ line: 'token list-service -o acme', note: 'The service tokens of an organization' }],
  async run(context, { options }) {
    const organization = context.organization(options);
    const list = await context.api().get<ServiceTokenListView>(apiPath`/service-tokens/${organization}`);
    const places = await placesOf(context, organization, list.serviceTokens);
    const now = new Date();
    await context.printer.list<ServiceTokenView>({
      value: list,
      rows: list.serviceTokens,
      columns: [
        { title: 'ID', cell: ({ id }) => id },
        { title: 'NAME', cell: ({ name }) => name, isCut: true },
        { title: 'SCOPE', cell: (token) => scopeText(token, places), isCut: true },
        { title: 'PERMISSION', cell: ({ permission }) => permission },
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

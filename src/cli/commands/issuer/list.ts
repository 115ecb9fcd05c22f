import { call } from '../../../client/call.ts';
import type { IssuerNameView, ListedIssuerView } from '../../../wire/trusted-issuers.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { flag, organizationOption } from '../../core/options.ts';
import { usageText } from './issuer-view.ts';

/** `issuer list`: docs/interface.md 4.19. */
export const issuerListCommand = defineCommand({
  summary: 'List the issuers whose JWTs can prove service tokens',
  description:
    'An admin or owner of the organization sees the issuers that its service tokens can name. An administrator of the server sees with --all what each of them is. CLUSTER is the cluster that reports an issuer, which proves only its ServiceTokens: no other token can name it.',
  options: {
    ...organizationOption,
    all: flag('--all', 'All issuers of the server with their use; for administrators of the server'),
  },
  examples: [
    { line: 'issuer list -o acme', note: 'What `token create-service --issuer` takes' },
    { line: 'issuer list --all', note: 'How many tokens each of them proves' },
  ],
  async run(context, { options: { all, organization } }) {
    if (all) return await listAll(context);
    const org = await context.organization({ organization });
    const { body } = await call(context.api(), 'GET /organizations/{org}/trusted-issuers', { params: { org } });
    await context.printer.list<IssuerNameView>({
      value: body,
      rows: body.trustedIssuers,
      columns: [
        { title: 'NAME', cell: ({ name }) => name },
        { title: 'PRESET', cell: ({ preset }) => preset },
        { title: 'GENERATION', cell: ({ generation }) => generation },
        { title: 'STATE', cell: ({ isDisabled }) => (isDisabled ? 'disabled' : 'enabled') },
        { title: 'ISSUER', cell: ({ iss }) => iss, isCut: true },
      ],
      name: ({ name }) => name,
      whenEmpty: 'There are no trusted issuers: an administrator of the server adds one with `keyframe issuer set`.',
    });
  },
});

async function listAll({ api, printer }: CommandContext): Promise<void> {
  const { body } = await call(api(), 'GET /trusted-issuers', {});
  await printer.list<ListedIssuerView>({
    value: body,
    rows: body.trustedIssuers,
    columns: [
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'CLUSTER', cell: ({ cluster }) => cluster },
      { title: 'PRESET', cell: ({ preset }) => preset },
      { title: 'GENERATION', cell: ({ generation }) => generation },
      { title: 'STATE', cell: ({ disabledAt }) => (disabledAt === null ? 'enabled' : 'disabled') },
      { title: 'PROVES', cell: usageText },
      { title: 'ISSUER', cell: ({ iss }) => iss, isCut: true },
    ],
    name: ({ name }) => name,
    whenEmpty: 'There are no trusted issuers. Add one with `keyframe issuer set`.',
  });
}

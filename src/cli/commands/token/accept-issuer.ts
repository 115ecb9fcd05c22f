import { call } from '../../../client/call.ts';
import type { ServiceTokenView } from '../../../wire/service-tokens.ts';
import { CliError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { integer, organizationOption } from '../../core/options.ts';
import { findServiceToken, serviceTokenArgument, tokenTitle } from './find-token.ts';

/** `token accept-issuer <id>`: docs/interface.md 4.8. */
export const tokenAcceptIssuerCommand = defineCommand({
  summary: 'Accept the issuer of a federated service token as it is now',
  description:
    'After an instance admin changed the iss, the keys, the URL, the authorities or the algorithms of a trusted issuer, other JWTs may prove the token. In an organization that forbids impersonation it does not work until an admin accepts the change. Ask the instance admin what was changed and why. Requires the role admin or owner in the organization.',
  arguments: { given: serviceTokenArgument },
  options: {
    ...organizationOption,
    generation: integer('--generation <n>', 'Only if the issuer is at this generation', { min: 1 }),
  },
  examples: [
    { line: 'token accept-issuer deploy -o acme', note: 'Asks for confirmation' },
    {
      line: 'token accept-issuer 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e -o acme --generation 3 --yes',
      note: 'In a script',
    },
  ],
  async run(context, { args: { given }, options }) {
    const organization = await context.organization(options);
    const { id } = await findServiceToken(context, { organization, project: undefined }, { given, isRevoked: false });
    const params = { org: organization, id };
    const { body: token } = await call(context.api(), 'GET /service-tokens/{org}/{id}', { params });
    const { issuer, present } = issuerOf(token);
    const title = tokenTitle(token);
    const generation = options.generation ?? present;
    if (generation !== present) {
      throw new CliError(exitCodes.conflict, `trusted issuer ${issuer} is at generation ${present}`, {
        next: ['Ask an instance admin what was changed, and accept that generation'],
      });
    }
    if (token.federation?.isAccepted !== true) {
      await context.confirm(`Accept generation ${generation} of trusted issuer ${issuer} for service token ${title}?`);
    }
    const path = 'POST /service-tokens/{org}/{id}/accept-issuer';
    const { body: accepted } = await call(context.api(), path, { params, body: { generation } });
    const sentence = `Service token ${title} accepts generation ${generation} of trusted issuer ${issuer}.`;
    await context.printer.done({ value: accepted, sentence, name: accepted.id });
  },
});

function issuerOf(token: ServiceTokenView): { readonly issuer: string; readonly present: number } {
  const { federation } = token;
  if (federation === undefined) {
    throw new CliError(exitCodes.conflict, `service token ${tokenTitle(token)} is not federated, so it has no issuer`);
  }
  const { issuer, issuerGeneration } = federation;
  if (issuerGeneration !== null) return { issuer, present: issuerGeneration };
  throw new CliError(exitCodes.conflict, `trusted issuer ${issuer} of service token ${tokenTitle(token)} was deleted`, {
    next: ['Create a service token for another issuer: keyframe token create-service --issuer <name>'],
  });
}

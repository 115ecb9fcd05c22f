import { call } from '../../../client/call.ts';
import { ClientError } from '../../../client/client-error.ts';
import { CliError } from '../../core/cli-error.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { argument, text } from '../../core/options.ts';
import { type TenantKind, parentFlags, printTenant, tenantKinds, tenantParams } from './tenant-kinds.ts';

/** `org create`, `project create`, `env create`. */
export function tenantCreateCommand(name: TenantKind): CommandDefinition {
  const { endpoints, parents: parentsOf, options: own, flags, sample, plural, word, article } = tenantKinds[name];
  return defineCommand({
    summary: `Create ${article} ${word}`,
    description: 'Addresses and commands use the slug. It is immutable.',
    arguments: { slug: argument('<slug>', 'Lower-case letters, digits and hyphens') },
    options: { ...own, displayName: text('-n, --name <name>', 'Display name (default: the slug)') },
    examples: [{ line: `${name} create ${sample}${flags}`, note: `Create the ${word} ${sample}` }],
    async run(context, { args: { slug }, options }) {
      const { displayName, ...place } = options;
      const api = context.api();
      const parents = await parentsOf(context, place);
      const request = { params: tenantParams(parents), body: { slug, displayName } };
      const created = await call(api, endpoints.create, request).catch(async (error: unknown) => {
        if (!(error instanceof ClientError) || error.problem?.code !== 'conflict') throw error;
        const taken = { name, plural, word, slug, parents };
        // If the caller does not see what has the slug, only the server may say more.
        const isSeen = await call(api, endpoints.show, { params: tenantParams([...parents, slug]) }).then(
          () => true,
          () => false,
        );
        throw isSeen ? present(error, taken) : perhapsDeleted(error, taken);
      });
      await printTenant(context, created.body);
    },
  });
}

interface Taken {
  readonly name: TenantKind;
  readonly plural: string;
  readonly word: string;
  readonly slug: string;
  /** The slugs above it. */
  readonly parents: readonly string[];
}

function present(cause: ClientError, taken: Taken): CliError {
  const { name, word, slug } = taken;
  const next = [`See it: keyframe ${name} show ${slug}${parentFlags(taken.parents)}`];
  return new CliError(exitCodes.conflict, `the ${word} ${slug} exists already`, { cause, next });
}

/** The caller does not see what has the slug. */
function perhapsDeleted(cause: ClientError, taken: Taken): CliError {
  const { name, plural, slug } = taken;
  const next = [
    `See the deleted ${plural}: keyframe ${name} list --deleted${parentFlags(taken.parents)}`,
    `To take its deletion back: keyframe ${name} undelete ${slug}${parentFlags(taken.parents)}`,
  ];
  return new CliError(exitCodes.conflict, cause.message, { cause, next });
}

import { type ApiClient, apiPath } from '../../../client/api-client.ts';
import { ClientError } from '../../../client/client-error.ts';
import { CliError } from '../../core/cli-error.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { argument, text } from '../../core/options.ts';
import { type Tenant, type TenantKind, printTenant, tenantKinds } from './tenant-kinds.ts';

/** `org create`, `project create`, `env create`. */
export function tenantCreateCommand(name: TenantKind): CommandDefinition {
  const { path, options: own, flags, sample, plural, word, article } = tenantKinds[name];
  return defineCommand({
    summary: `Create ${article} ${word}`,
    description: 'Addresses and commands use the slug. It is immutable.',
    arguments: { slug: argument('<slug>', 'Lower-case letters, digits and hyphens') },
    options: { ...own, displayName: text('-n, --name <name>', 'Display name (default: the slug)') },
    examples: [{ line: `${name} create ${sample}${flags}`, note: `Create the ${word} ${sample}` }],
    async run(context, { args: { slug }, options }) {
      const { displayName, ...place } = options;
      const body = { slug, ...(displayName === undefined ? {} : { displayName }) };
      const api = context.api();
      const parent = path(context, place);
      const created = await api.post<Tenant>(parent, body).catch(async (error: unknown) => {
        if (!(error instanceof ClientError) || error.problem?.code !== 'conflict') throw error;
        const taken = { name, plural, word, slug, parents: parent.split('/').slice(2) };
        throw (await exists(api, parent + apiPath`/${slug}`)) ? present(error, taken) : perhapsDeleted(error, taken);
      });
      await printTenant(context, created);
    },
  });
}

/** Whether the caller sees what has the slug. If not, only the server may say more. */
async function exists(api: ApiClient, path: string): Promise<boolean> {
  return await api.get<Tenant>(path).then(
    () => true,
    () => false,
  );
}

interface Taken {
  readonly name: TenantKind;
  readonly plural: string;
  readonly word: string;
  readonly slug: string;
  /** The slugs above it. */
  readonly parents: readonly string[];
}

function flagsOf({ parents }: Taken): string {
  return parents.map((parent, index) => ` ${['-o', '-p'][index]} ${parent}`).join('');
}

function present(cause: ClientError, taken: Taken): CliError {
  const { name, word, slug } = taken;
  const next = [`See it: keyframe ${name} show ${slug}${flagsOf(taken)}`];
  return new CliError(exitCodes.conflict, `the ${word} ${slug} exists already`, { cause, next });
}

/** The caller does not see what has the slug. */
function perhapsDeleted(cause: ClientError, taken: Taken): CliError {
  const { name, plural, slug } = taken;
  const next = [
    `See the deleted ${plural}: keyframe ${name} list --deleted${flagsOf(taken)}`,
    `To take its deletion back: keyframe ${name} undelete ${slug}${flagsOf(taken)}`,
  ];
  return new CliError(exitCodes.conflict, cause.message, { cause, next });
}

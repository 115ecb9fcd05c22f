import { type ApiClient, apiPath } from '../../../client/api-client.ts';
import { ClientError } from '../../../client/client-error.ts';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import { type CommandDefinition, defineCommand } from '../../command.ts';
import { argument, text } from '../../options.ts';
import { type Tenant, type TenantKind, printTenant, tenantKinds } from './tenant-kinds.ts';

/** `org create`, `project create`, `env create`. */
export function tenantCreateCommand(name: TenantKind): CommandDefinition {
  const { path, options: own, flags, sample, word, article } = tenantKinds[name];
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
        const isTaken = error instanceof ClientError && error.status === 409;
        throw isTaken && (await exists(api, parent + apiPath`/${slug}`))
          ? present(error, { name, word, slug, parents: parent.split('/').slice(2) })
          : error;
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

interface Present {
  readonly name: TenantKind;
  readonly word: string;
  readonly slug: string;
  /** The slugs above it. */
  readonly parents: readonly string[];
}

function present(cause: ClientError, { name, word, slug, parents }: Present): CliError {
  const flags = parents.map((parent, index) => ` ${['-o', '-p'][index]} ${parent}`).join('');
  const next = [`See it: keyframe ${name} show ${slug}${flags}`];
  return new CliError(exitCodes.conflict, `the ${word} ${slug} exists already`, { cause, next });
}

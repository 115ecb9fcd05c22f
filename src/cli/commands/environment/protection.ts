import type { UpdatedEnvironmentView } from '../../../wire/tenancy.ts';
import type { CommandContext } from '../../core/command.ts';

/** Prints whether an environment is protected, after a change of that. */
export async function printProtection({ printer }: CommandContext, environment: UpdatedEnvironmentView): Promise<void> {
  const { slug, displayName } = environment;
  await printer.object({
    value: environment,
    fields: [
      ['Slug', slug],
      ['Name', displayName],
      ['Protected', environment.protected ? 'yes' : 'no'],
    ],
    name: slug,
  });
}

import type { CreatedServiceTokenView, ServiceTokenView } from '../../../wire/service-tokens.ts';
import type { CommandContext } from '../../command.ts';
import { noteShownOnce } from './shown-once.ts';

/** Prints a service token with its value, which no later answer holds. */
export async function printNewServiceToken(context: CommandContext, created: CreatedServiceTokenView): Promise<void> {
  const { token, id, name, permission, expiresAt } = created;
  await context.printer.object({
    value: created,
    fields: [
      ['Id', id],
      ['Name', name],
      ['Scope', scopeText(created)],
      ['Permission', permission],
      ['Expires', expiresAt ?? 'never'],
      ['Token', token],
    ],
    name: id,
  });
  noteShownOnce(context);
}

/** The scope, with the id it is limited to. */
export function scopeText({ scope, projectId, environmentId }: ServiceTokenView): string {
  const id = environmentId ?? projectId;
  return id === null ? scope : `${scope} ${id}`;
}

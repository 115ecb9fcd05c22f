import { CliError } from '../../core/cli-error.ts';
import type { CommandContext } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import type { SecretTable } from '../../../wire/formats/secret-table.ts';
import { loaderVariablesIn } from './loader-variables.ts';
import { flag } from '../../core/options.ts';
import { shownNames } from './shown-plan.ts';

/** The flag that permits loader variables, for `requireNoLoaderVariables`. */
export const loaderOption = {
  allowLoaderVariables: flag(
    '--allow-loader-variables',
    'Allow keys such as PATH or NODE_OPTIONS, through which a value can run code (docs/cli-files.md)',
  ),
};

/** Warns that readers cannot use these secrets as variables without a flag. */
export function warnOfLoaderVariables({ io }: CommandContext, secrets: SecretTable): void {
  const keys = loaderVariablesIn(secrets);
  if (keys.length === 0) return;
  const [what, them] = keys.length === 1 ? ['is a variable', 'it'] : ['are variables', 'them'];
  io.warn(
    `${shownNames(keys)} ${what} by which a value can run code. keyframe run hands ${them} on only with --allow-loader-variables, or if a list names ${them} (docs/cli-files.md)`,
  );
}

/**
 * Refuses secrets whose keys are loader variables, unless the user permits them.
 *
 * @param place the environment, as users write it
 * @throws CliError refused, naming these keys
 */
export function requireNoLoaderVariables(
  secrets: SecretTable,
  { place, allowed }: { readonly place: string; readonly allowed: boolean },
): void {
  const keys = allowed ? [] : loaderVariablesIn(secrets);
  if (keys.length === 0) return;
  const what = keys.length === 1 ? 'is a variable' : 'are variables';
  throw new CliError(
    exitCodes.refused,
    `${keys.join(', ')} ${what} by which a value can run code on this machine; nothing was done`,
    {
      next: [
        `If you trust all users who may write ${place}, add --allow-loader-variables`,
        'To hand on some of them, name them: --only, KEYFRAME_RUN_VARIABLES, or variables in .keyframe.json',
      ],
    },
  );
}

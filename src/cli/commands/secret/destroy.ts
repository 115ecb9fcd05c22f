import { call } from '../../../client/call.ts';
import { ClientError } from '../../../client/client-error.ts';
import { usageError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { completing, argument, flag, scopeOptions, versionNumber } from '../../core/options.ts';
import { scopeParams } from '../../settings/scope.ts';
import { shownScope } from './secrets-api.ts';
import { time } from '../../terminal/time.ts';

/** `destroy <secret_key> --version <n>`: docs/interface.md 4.11. */
export const destroyCommand = defineCommand({
  summary: 'Erase the value of a version permanently',
  description:
    'For a leaked value: it can no longer be read, rolled back to or restored. This cannot be undone. The version stays in the history. The current version is refused: change the secret first. If other versions have the same value, choose --same-value or --this-version-only. Requires the role admin or owner. The same value in other keys and environments, such as one that promote copied, stays. So do database backups, Kubernetes Secrets and programs that have it.',
  arguments: { key: completing('key', argument('<secret_key>', 'Key of the secret')) },
  options: {
    version: versionNumber('Version to destroy', { isRequired: true }),
    isSameValue: flag('--same-value', 'Also destroy the same value in all other versions'),
    isThisAlone: flag('--this-version-only', 'Keep the same value in other versions'),
    ...scopeOptions,
  },
  examples: [
    { line: 'destroy API_KEY --version 3', note: 'Asks for confirmation' },
    {
      line: 'destroy API_KEY --version 3 --same-value --yes',
      note: 'In all versions with this value, without confirmation',
    },
  ],
  async run(context, { args: { key }, options: { version, isSameValue, isThisAlone, ...flags } }) {
    if (isSameValue && isThisAlone) throw usageError('--same-value and --this-version-only cannot be combined');
    const scope = await context.scope(flags);
    const api = context.api();
    const others = isSameValue ? ', and the same value in all its other versions,' : '';
    await context.confirm(`Destroy version ${version} of ${key}${others} in ${shownScope(scope)} permanently?`);
    const request = {
      params: { ...scopeParams(scope), key, version },
      body: isSameValue || isThisAlone ? { sameValue: isSameValue } : {},
    };
    const endpoint = 'POST /versions/{org}/{project}/{env}/{key}/{version}/destroy';
    const { body: answer } = await call(api, endpoint, request).catch((error: unknown) => {
      throw withFlags(error);
    });
    await context.printer.object({
      value: { key, ...answer },
      fields: [
        ['Secret', key],
        ['Environment', shownScope(scope)],
        ['Version', `v${answer.version}`],
        ['Destroyed', time(answer.destroyedAt)],
        ['By', answer.destroyedByName],
        ['Together', answer.destroyedVersions.map((destroyed) => `v${destroyed}`).join(', ')],
      ],
      name: answer.destroyedVersions.map(String),
    });
  },
});

// The server names the field of its API.
const flagTexts = [
  [' with "sameValue": true, or destroy the older one alone with false', ''],
  ['; say with "sameValue" whether they are destroyed too (true) or keep it (false)', ''],
] as const;

/** The error in the words of the command, whose next steps name the flags. */
function withFlags(error: unknown): unknown {
  if (!(error instanceof ClientError) || error.problem === undefined) return error;
  return error.withMessage(flagTexts.reduce((text, [from, to]) => text.replace(from, to), error.message));
}

import { runnerVariables } from '../../../../lib/command-variables.ts';
import { usageError } from '../../../core/cli-error.ts';
import type { SecretTable } from '../../../../wire/formats/secret-table.ts';

/** What this command itself is signed in with: a program needs its secrets and not the means to all others. */
const credentials: readonly string[] = ['KEYFRAME_TOKEN', 'KEYFRAME_TOKEN_FILE'];

/** The secrets that become variables if variables that are set already take precedence, or all. */
export function injectedSecrets(
  own: Readonly<NodeJS.ProcessEnv>,
  secrets: SecretTable,
  { keepExisting }: { readonly keepExisting: boolean },
): SecretTable {
  return keepExisting ? new Map([...secrets].filter(([key]) => own[key] === undefined)) : secrets;
}

/**
 * The variables of a child: ours, and the secrets, which win over ours of the same name. Every key of a secret can be the
 * name of a variable to the system, also one that shells cannot use, such as `a.b`.
 *
 * @throws CliError usage naming the keys whose values hold a NUL, which no variable can
 */
export function childVariables(own: Readonly<NodeJS.ProcessEnv>, secrets: SecretTable): NodeJS.ProcessEnv {
  const withNul = [...secrets].filter(([, value]) => value.includes('\0')).map(([key]) => key);
  if (withNul.length > 0) {
    throw usageError(
      `a variable cannot hold the NUL character that is in ${withNul.join(', ')}`,
      'Hand such a value over in a file: keyframe get <key> > <file>',
    );
  }
  return { ...own, ...Object.fromEntries(secrets) };
}

/** The variables without the token of this command, and without what it gets one with. */
export function withoutCredentials(own: Readonly<NodeJS.ProcessEnv>): NodeJS.ProcessEnv {
  // Without KEYFRAME_AUDIENCE, the variables of the runner are there for other services.
  const removed = own['KEYFRAME_AUDIENCE'] === undefined ? credentials : [...credentials, ...runnerVariables];
  return Object.fromEntries(Object.entries(own).filter(([name]) => !removed.includes(name)));
}

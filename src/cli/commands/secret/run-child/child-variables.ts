import { usageError } from '../../../cli-error.ts';
import type { SecretTable } from '../../../../wire/formats/secret-table.ts';
import { requireNoLoaderVariables } from '../loader-refusal.ts';

/** What this command itself is signed in with: a program needs its secrets and not the means to all others. */
const credentials = ['KEYFRAME_TOKEN', 'KEYFRAME_TOKEN_FILE'];

export interface VariableRules {
  /** Hand the command's own token on. */
  readonly keepsToken: boolean;
  /** A variable that is set already wins over the secret of that name. */
  readonly keepsExisting: boolean;
  /** Secrets may be variables that make programs run code. */
  readonly allowsLoaderVariables: boolean;
  /** The environment, as users write it. */
  readonly place: string;
}

/**
 * The variables of a child: ours, and the secrets, which win over ours of the same name. Every key of a secret can be the
 * name of a variable to the system, also one that shells cannot use, such as `a.b`.
 *
 * @throws CliError usage naming the keys whose values hold a NUL, which no variable can; refused for loader variables.
 */
export function childVariables(
  own: Readonly<NodeJS.ProcessEnv>,
  secrets: SecretTable,
  { keepsToken, keepsExisting, allowsLoaderVariables, place }: VariableRules,
): NodeJS.ProcessEnv {
  const variables = new Map<string, string | undefined>(Object.entries(keepsToken ? own : withoutCredentials(own)));
  const injected = [...secrets].filter(([key]) => !keepsExisting || !variables.has(key));
  requireNoLoaderVariables(new Map(injected), { place, allowed: allowsLoaderVariables });
  const withNul = injected.filter(([, value]) => value.includes('\0')).map(([key]) => key);
  if (withNul.length > 0) {
    throw usageError(
      `a variable cannot hold the NUL character that is in ${withNul.join(', ')}`,
      'Hand such a value over in a file: keyframe get <key> > <file>',
    );
  }
  for (const [key, value] of injected) variables.set(key, value);
  return Object.fromEntries(variables);
}

/** The variables without the token of this command. */
export function withoutCredentials(own: Readonly<NodeJS.ProcessEnv>): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(own).filter(([name]) => !credentials.includes(name)));
}

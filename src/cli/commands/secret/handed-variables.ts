import type { SecretTable } from '../../../wire/formats/secret-table.ts';
import { CliError } from '../../core/cli-error.ts';
import { type CommandContext } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { flag, repeated } from '../../core/options.ts';
import { type KnownPlace, KnownVariables } from '../../settings/known-variables.ts';
import { type Scope, type ScopeFlags, isNamed } from '../../settings/scope.ts';
import { type VariableList, listTest, namesOf, parseVariableList } from '../../settings/variable-list.ts';
import { loaderOption, requireNoLoaderVariables } from './loader-refusal.ts';
import { shownScope } from './secrets-api.ts';
import { shownNames } from './shown-plan.ts';

/** The flags that decide which secrets become variables. */
export const variableOptions = {
  only: repeated(
    '--only <names>',
    "Only these variables, such as DATABASE_URL,'AWS_*' (or KEYFRAME_RUN_VARIABLES)",
    'all',
  ),
  allowsNew: flag('--allow-new', 'Allow variables that are new since the last run'),
  ...loaderOption,
};

export interface VariableFlags extends ScopeFlags {
  readonly only: readonly string[];
  readonly allowsNew: boolean;
  readonly allowLoaderVariables: boolean;
}

/**
 * Decides which secrets become variables of a program. Users who may write the environment choose their names, and no list
 * of dangerous names is complete. So a list of the user decides; without one, the names of the last runs do, and a new name
 * needs a yes. The first run hands on all names that are not known to be dangerous.
 */
export class HandedVariables {
  readonly #context: CommandContext;
  readonly #scope: Scope;
  readonly #flags: VariableFlags;
  readonly #list: VariableList | undefined;
  /** Names that were announced as left out. */
  readonly #announced = new Set<string>();
  /** The names that programs got before, and those that this one gets. */
  #known: ReadonlySet<string> = new Set();

  /** Throws CliError usage if a list is malformed. */
  constructor(context: CommandContext, scope: Scope, flags: VariableFlags) {
    this.#context = context;
    this.#scope = scope;
    this.#flags = flags;
    this.#list = listOf(context, flags);
  }

  /** The secrets that the list selects; all without a list. Throws CliError refused for loader variables. */
  listed(secrets: SecretTable): SecretTable {
    const list = this.#list;
    const isListed = list === undefined ? (): boolean => true : listTest(list);
    const listed = new Map([...secrets].filter(([key]) => isListed(key)));
    const named = list === undefined ? new Set() : namesOf(list);
    requireNoLoaderVariables(new Map([...listed].filter(([key]) => !named.has(key))), {
      place: shownScope(this.#scope),
      allowed: this.#flags.allowLoaderVariables,
    });
    // --only asks for some of them on purpose.
    if (list !== undefined && list.source !== '--only') {
      const rest = this.#toAnnounce([...secrets.keys()].filter((key) => !listed.has(key)));
      if (rest.length > 0)
        this.#context.io.note(`Left out, because ${list.source} does not name it: ${shownNames(rest)}`);
    }
    return listed;
  }

  /** Throws CliError notFound for names after --only that the environment does not have. */
  requireNamed(secrets: SecretTable): void {
    if (this.#list?.source !== '--only') return;
    const missing = [...namesOf(this.#list)].filter((name) => !secrets.has(name));
    if (missing.length === 0) return;
    throw new CliError(exitCodes.notFound, `${shownScope(this.#scope)} has no ${shownNames(missing)} (--only)`);
  }

  /**
   * Asks about names that are new, and remembers all of them.
   *
   * @throws CliError refused if the user does not agree, or cannot be asked
   */
  async admit(secrets: SecretTable): Promise<void> {
    if (this.#list !== undefined) return;
    const known = this.#memory.namesOf(this.#place);
    const fresh = known === undefined ? [] : [...secrets.keys()].filter((key) => !known.has(key));
    if (fresh.length > 0 && !this.#flags.allowsNew) await this.#requireYes(fresh);
    this.#known = known ?? new Set();
    this.#remember(secrets);
  }

  /** The secrets for a program that runs already: new names are left out with a warning, unless they are allowed. */
  withoutNew(secrets: SecretTable): SecretTable {
    if (this.#list !== undefined) return secrets;
    if (this.#flags.allowsNew) {
      this.#remember(secrets);
      return secrets;
    }
    const fresh = this.#toAnnounce([...secrets.keys()].filter((key) => !this.#known.has(key)));
    if (fresh.length > 0) {
      this.#context.io.warn(`left out, because the program was started without it: ${shownNames(fresh)}. ${restart}`);
    }
    return new Map([...secrets].filter(([key]) => this.#known.has(key)));
  }

  async #requireYes(fresh: readonly string[]): Promise<void> {
    const { io } = this.#context;
    const place = shownScope(this.#scope);
    // All of them: users cannot agree to a name that they do not see.
    const names = fresh.join(', ');
    const what = fresh.length === 1 ? 'is a new variable' : 'are new variables';
    if (!io.canAsk) {
      const message = `${names} ${what} of ${place} since the last run on this machine; nothing was done`;
      throw new CliError(exitCodes.refused, message, {
        next: [
          'If you expect that, run the command once with --allow-new',
          'Or name the variables that a program gets: --only, KEYFRAME_RUN_VARIABLES, or variables in .keyframe.json',
        ],
      });
    }
    io.note(`${names} ${what} of ${place} since the last run. A name can decide what a program does with its value.`);
    const isAgreed = await io.askYes(fresh.length === 1 ? 'Hand it on?' : 'Hand them on?');
    if (!isAgreed) throw new CliError(exitCodes.refused, 'not confirmed; nothing was done');
  }

  #remember(secrets: SecretTable): void {
    const names = [...secrets.keys()];
    this.#known = new Set([...this.#known, ...names]);
    try {
      this.#memory.add(this.#place, names);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      // A pod often has no folder that can be written. There each run is a first run, as docs/cli-files.md says.
      if (this.#context.io.isErrorTerminal)
        this.#context.io.warn(`the names of the variables are not remembered: ${error.message}`);
    }
  }

  #toAnnounce(names: readonly string[]): string[] {
    const fresh = names.filter((name) => !this.#announced.has(name));
    for (const name of fresh) this.#announced.add(name);
    return fresh;
  }

  get #memory(): KnownVariables {
    return new KnownVariables(this.#context.environment.variablesFile);
  }

  get #place(): KnownPlace {
    return placeOf(this.#context, this.#scope);
  }
}

const restart = 'To hand it on, start the command again, or start it with --allow-new';

/** Users know the names that they write themselves. Nothing is remembered before the first run. */
export function rememberWritten(context: CommandContext, scope: Scope, names: readonly string[]): void {
  const memory = new KnownVariables(context.environment.variablesFile);
  const place = placeOf(context, scope);
  try {
    if (memory.namesOf(place) !== undefined) memory.add(place, names);
  } catch (error) {
    // The change is made. The next run asks about these names, or reports the fault.
    if (!(error instanceof CliError)) throw error;
  }
}

function placeOf({ configuration }: CommandContext, scope: Scope): KnownPlace {
  return { url: configuration.url, place: shownScope(scope) };
}

/** The list of the flag, else of the variable, else of the folder file that names the environment. */
function listOf(
  { configuration, environment, scopeSources }: CommandContext,
  flags: VariableFlags,
): VariableList | undefined {
  if (flags.only.length > 0) return parseVariableList('--only', flags.only.join(','));
  const { runVariables } = environment;
  if (runVariables !== undefined) return parseVariableList('KEYFRAME_RUN_VARIABLES', runVariables);
  const file = isNamed(flags, scopeSources, 'environment') ? undefined : configuration.folder;
  return file?.variables === undefined ? undefined : { source: file.path, entries: file.variables };
}

import { constants } from 'node:os';
import { usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { durationOption } from '../../core/duration-option.ts';
import type { SecretTable } from '../../../wire/formats/secret-table.ts';
import { type Option, flag, restArguments, scopeOptions, text } from '../../core/options.ts';
import { type ChildEnd, type ChildOptions, startChild } from './run-child/child-process.ts';
import { childVariables, injectedSecrets, withoutCredentials } from './run-child/child-variables.ts';
import { ForwardedSignals } from './run-child/forwarded-signals.ts';
import { runRestartedChild } from './run-child/restarted-child.ts';
import type { WatchedOptions } from './run-child/watched-variables.ts';
import { HandedVariables, variableOptions } from './handed-variables.ts';
import { readSecrets, tableOf } from './secrets-api.ts';

const defaultGraceMs = 30_000;

export const runCommand = defineCommand({
  summary: 'Run a program with the secrets as environment variables',
  description:
    'The secrets are read at the start and never written to disk. They override variables of the same name. Signals are forwarded to the program, and keyframe ends with its exit code: 128 plus the signal number after a signal, 127 if the program does not exist, 126 if it cannot be executed. KEYFRAME_TOKEN and KEYFRAME_TOKEN_FILE are removed unless you add --keep-token, and with KEYFRAME_AUDIENCE what the runner of GitHub is asked with. The program is looked up in the PATH of your shell. Secrets through which a value can run code, such as PATH or NODE_OPTIONS, are refused unless you add --allow-loader-variables. A variable that is new since the last run on this machine needs your yes, or --allow-new: users who may write the environment choose the names. A list decides without a question: --only, KEYFRAME_RUN_VARIABLES, or variables in .keyframe.json (docs/cli-files.md). The variables of a running program cannot change. So with --watch keyframe reads the new values when the environment has changed, asks the program to end with --signal, kills it after --grace, and starts it again. A program that ends by itself is not started again. If the new values cannot be read or used, a warning says so and the program keeps running.',
  arguments: { command: restArguments('<command...>', 'Program and its arguments') },
  options: {
    ...scopeOptions,
    revision: text('--revision <revision>', 'State at this revision (number or id)'),
    keepExisting: flag('--keep-existing', 'Existing variables override secrets of the same name'),
    keepToken: flag(
      '--keep-token',
      'Keep KEYFRAME_TOKEN, KEYFRAME_TOKEN_FILE and what gets a JWT from GitHub in the environment of the program',
    ),
    ...variableOptions,
    isWatching: flag('--watch', 'Restart the program when the environment changes'),
    signal: signalOption('--signal <name>', 'With --watch: what asks the program to end for a restart (default: TERM)'),
    grace: durationOption(
      '--grace <duration>',
      'With --watch: kill the program if it takes longer to end (default: 30s)',
    ),
  },
  passThrough: true,
  examples: [
    { line: 'run -- npm start', note: 'With the secrets of the environment of this directory' },
    { line: 'run --watch -- node server.js', note: 'Restart it when a secret changes' },
    { line: "run -e staging -- sh -c 'psql $DATABASE_URL'", note: 'In a shell, which expands the variable' },
  ],
  async run(context, { args, options }) {
    const [command, ...rest] = args.command;
    if (command === undefined || command === '')
      throw usageError('which program is to run?', 'keyframe run -- <command>');
    requireFitting(options);
    const scope = await context.scope(options);
    const list = await readSecrets(context.api(), scope, options.revision);
    const { variables: all } = context.environment;
    const own = options.keepToken ? all : withoutCredentials(all);
    const handed = new HandedVariables(context, scope, options);
    const handedOf = (secrets: SecretTable): SecretTable => handed.listed(injectedSecrets(own, secrets, options));
    const secrets = handedOf(tableOf(list));
    handed.requireNamed(tableOf(list));
    const child = { command, args: rest, variables: childVariables(own, secrets), callerPath: own['PATH'] };
    await handed.admit(secrets);
    const { isInputTerminal, isOutputTerminal, isErrorTerminal } = context.io;
    using signals = new ForwardedSignals({ hasTerminal: isInputTerminal || isOutputTerminal || isErrorTerminal });
    const { exitCode, fault } = options.isWatching
      ? await runWatched(context, {
          watched: { context, scope, list, own, secrets, handedOf: (newer) => handed.withoutNew(handedOf(newer)) },
          child,
          signals,
          options,
        })
      : await runOnce(child, signals);
    if (fault !== undefined) context.io.error(`${shownCommand(command)} cannot be run: ${fault}`);
    context.endWith(exitCode);
  },
});

interface WatchFlags {
  readonly isWatching: boolean;
  readonly revision: string | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly grace: number | undefined;
}

/** Refuses flags that would have no effect. */
function requireFitting({ isWatching, revision, signal, grace }: WatchFlags): void {
  if (isWatching && revision !== undefined) {
    throw usageError('--watch and --revision cannot be combined: a past revision never changes');
  }
  if (!isWatching && (signal !== undefined || grace !== undefined))
    throw usageError('--signal and --grace belong to --watch');
}

async function runOnce(child: ChildOptions, signals: ForwardedSignals): Promise<ChildEnd> {
  const started = startChild(child);
  signals.sendTo(started);
  return await started.ended;
}

interface WatchedRun {
  readonly watched: Omit<WatchedOptions, 'signal'>;
  readonly child: ChildOptions;
  readonly signals: ForwardedSignals;
  readonly options: WatchFlags;
}

async function runWatched(
  { io }: CommandContext,
  { watched: state, child, signals, options }: WatchedRun,
): Promise<ChildEnd> {
  const { WatchedVariables } = await import('./run-child/watched-variables.ts');
  const end = new AbortController();
  const watched = new WatchedVariables({ ...state, signal: end.signal });
  const following = watched.follow();
  try {
    return await runRestartedChild({
      child,
      signals,
      next: async () => await watched.next(),
      signal: options.signal ?? 'SIGTERM',
      graceMs: options.grace ?? defaultGraceMs,
      note: (line) => io.note(line),
      warn: (line) => io.warn(line),
    });
  } finally {
    end.abort();
    await following;
  }
}

/** `HUP` or `SIGHUP`, in any case. */
function signalOption(flags: string, description: string): Option<NodeJS.Signals | undefined> {
  return {
    flags,
    description,
    parse: (given) => {
      const name = `SIG${given.toUpperCase().replace(/^SIG/, '')}`;
      if (Object.hasOwn(constants.signals, name)) return name as NodeJS.Signals;
      throw usageError('must be the name of a signal, such as TERM, HUP or INT');
    },
  };
}

/** A program as it may be named: what does not look like one may be a value in the wrong place. */
function shownCommand(command: string): string {
  return /^[\w./@+-]{1,200}$/.test(command) ? command : 'the program';
}

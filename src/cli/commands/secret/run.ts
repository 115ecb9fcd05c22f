import { usageError } from '../../cli-error.ts';
import { defineCommand } from '../../command.ts';
import { flag, restArguments, scopeOptions, text } from '../../options.ts';
import { runChild } from './run-child/child-process.ts';
import { childVariables } from './run-child/child-variables.ts';
import { loaderOption } from './loader-refusal.ts';
import { readSecrets, shownScope, tableOf } from './secrets-api.ts';

export const runCommand = defineCommand({
  summary: 'Run a program with the secrets as environment variables',
  description:
    'The secrets are read once, at the start, and never written to disk. They override variables of the same name. Signals are forwarded to the program, and keyframe ends with its exit code: 128 plus the signal number after a signal, 127 if the program does not exist, 126 if it cannot be executed. KEYFRAME_TOKEN and KEYFRAME_TOKEN_FILE are removed unless you add --keep-token. The program is looked up in the PATH of your shell. Secrets through which a value can run code, such as PATH or NODE_OPTIONS, are refused unless you add --allow-loader-variables.',
  arguments: { command: restArguments('<command...>', 'Program and its arguments') },
  options: {
    ...scopeOptions,
    revision: text('--revision <revision>', 'State at this revision (number or id)'),
    keepExisting: flag('--keep-existing', 'Existing variables override secrets of the same name'),
    keepToken: flag('--keep-token', 'Keep KEYFRAME_TOKEN and KEYFRAME_TOKEN_FILE in the environment of the program'),
    ...loaderOption,
  },
  passThrough: true,
  examples: [
    { line: 'run -- npm start', note: 'With the secrets of the environment of this directory' },
    { line: "run -e staging -- sh -c 'psql $DATABASE_URL'", note: 'In a shell, which expands the variable' },
  ],
  async run(context, { args, options }) {
    const [command, ...rest] = args.command;
    if (command === undefined || command === '')
      throw usageError('which program is to run?', 'keyframe run -- <command>');
    const scope = context.scope(options);
    const list = await readSecrets(context.api(), scope, options.revision);
    const own = context.environment.variables;
    const variables = childVariables(own, tableOf(list), {
      keepsToken: options.keepToken,
      keepsExisting: options.keepExisting,
      allowsLoaderVariables: options.allowLoaderVariables,
      place: shownScope(scope),
    });
    const { io } = context;
    const hasTerminal = io.isInputTerminal || io.isOutputTerminal || io.isErrorTerminal;
    const { exitCode, fault } = await runChild({
      command,
      args: rest,
      variables,
      callerPath: own['PATH'],
      hasTerminal,
    });
    if (fault !== undefined) io.error(`${shownCommand(command)} cannot be run: ${fault}`);
    context.endWith(exitCode);
  },
});

/** A program as it may be named: what does not look like one may be a value in the wrong place. */
function shownCommand(command: string): string {
  return /^[\w./@+-]{1,200}$/.test(command) ? command : 'the program';
}

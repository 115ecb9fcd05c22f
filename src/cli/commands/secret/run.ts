import { usageError } from '../../cli-error.ts';
import { defineCommand } from '../../command.ts';
import { flag, restArguments, scopeOptions, text } from '../../options.ts';
import { runChild } from './run-child/child-process.ts';
import { childVariables } from './run-child/child-variables.ts';
import { loaderOption } from './loader-refusal.ts';
import { readSecrets, shownScope, tableOf } from './secrets-api.ts';

export const runCommand = defineCommand({
  summary: 'Run a program with the secrets as its environment variables',
  description:
    'The secrets are read once, at the start, and are written nowhere. They win over variables of the same name. Signals are passed on to the program, and its exit code is that of keyframe: 128 and the number of the signal that ended it, 127 where there is no such program, 126 where it cannot be run. ' +
    'KEYFRAME_TOKEN and KEYFRAME_TOKEN_FILE are not handed on unless --keep-token is given. ' +
    'The program is looked up in your own PATH. Secrets by which a value can run code, such as PATH or NODE_OPTIONS, are refused unless --allow-loader-variables is given.',
  arguments: { command: restArguments('<command...>', 'Program and its arguments') },
  options: {
    ...scopeOptions,
    revision: text('--revision <revision>', 'The secrets as they were at this revision (its number or id)'),
    keepExisting: flag('--keep-existing', 'Variables that are set already win over secrets of the same name'),
    keepToken: flag('--keep-token', 'Hand KEYFRAME_TOKEN and KEYFRAME_TOKEN_FILE on to the program'),
    ...loaderOption,
  },
  passThrough: true,
  examples: [
    { line: 'run -- npm start', note: "With the secrets of this folder's environment" },
    { line: "run -e staging -- sh -c 'psql $DATABASE_URL'", note: 'In a shell, for its variables' },
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

import { CliError } from '../../../core/cli-error.ts';
import type { CommandContext } from '../../../core/command.ts';
import { exitCodes } from '../../../core/exit-codes.ts';
import { startChild } from '../run-child/child-process.ts';
import { withoutCredentials } from '../run-child/child-variables.ts';
import type { EditSignals } from './edit-signals.ts';

/** A signal ended the editor, or asked the command to end while the editor was open. */
export class EditInterrupted extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('interrupted');
    this.name = 'EditInterrupted';
    this.exitCode = exitCode;
  }
}

/**
 * Opens a file in the user's editor and waits until it is closed. The editor is a line of the shell, such as `code --wait`.
 * It gets no token, because plugins of an editor run code.
 *
 * @throws EditInterrupted; CliError failure if the editor fails.
 */
export async function runEditor(
  { io, environment }: CommandContext,
  path: string,
  signals: EditSignals,
): Promise<void> {
  const { editor, variables } = environment;
  const child = startChild({
    command: 'sh',
    // The editor takes the place of the shell, so that signals reach it. env permits variables in front of it.
    args: ['-c', `exec env ${editor} "$@"`, editor, path],
    variables: withoutCredentials(variables),
    callerPath: variables['PATH'],
    // The result of the command must be alone on its standard output.
    isOutputOnError: !io.isOutputTerminal,
  });
  const { exitCode, interruption, fault } = await signals.waitFor(child);
  if (interruption !== undefined) throw new EditInterrupted(interruption);
  if (exitCode === 0) return;
  const reason = fault === undefined ? `ended with exit code ${exitCode}` : `cannot be started: ${fault}`;
  throw new CliError(exitCodes.failure, `the editor ${reason}; nothing was changed`, {
    next: ['Set another editor with VISUAL or EDITOR'],
  });
}

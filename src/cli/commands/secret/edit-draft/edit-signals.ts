import { constants } from 'node:os';
import { endNow } from '../../../terminal/end-now.ts';
import type { ChildEnd, StartedChild } from '../run-child/child-process.ts';

const sentByTerminal: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];
const endings: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', ...sentByTerminal];

/** The exit code of a command that a signal ended, as a shell reports it. */
function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** Handles the signals that ask the command to end while a draft exists. */
export class EditSignals implements Disposable {
  readonly #hasTerminal: boolean;
  #editor: StartedChild | undefined;
  #forwarded: NodeJS.Signals | undefined;
  /** Runs before a signal ends the command. */
  beforeEnd: () => void = () => undefined;

  constructor({ hasTerminal }: { readonly hasTerminal: boolean }) {
    this.#hasTerminal = hasTerminal;
    for (const signal of endings) process.on(signal, this.#take);
  }

  /**
   * Waits until the editor has ended, and forwards signals to it. Ctrl-C and Ctrl-\ at a terminal reach the editor from
   * the terminal itself, and may mean something else to it. Returns the exit code of a signal that ended the editor.
   */
  async waitFor(editor: StartedChild): Promise<ChildEnd & { readonly interruption?: number }> {
    this.#editor = editor;
    const end = await editor.ended;
    this.#editor = undefined;
    const ended = endings.map(exitCodeOfSignal).find((code) => code === end.exitCode);
    const interruption = this.#forwarded === undefined ? ended : exitCodeOfSignal(this.#forwarded);
    return interruption === undefined ? end : { ...end, interruption };
  }

  [Symbol.dispose](): void {
    for (const signal of endings) process.off(signal, this.#take);
  }

  readonly #take = (signal: NodeJS.Signals): void => {
    if (this.#editor === undefined) {
      this.beforeEnd();
      // While a question is asked, only an orderly end gives the terminal its settings back.
      if (process.stdin.isRaw) process.exit(exitCodeOfSignal(signal));
      endNow(exitCodeOfSignal(signal));
    }
    if (this.#hasTerminal && sentByTerminal.includes(signal)) return;
    this.#forwarded = signal;
    this.#editor.kill(signal);
  };
}

const sentByTerminal: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];
const endings: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', ...sentByTerminal];
const forwarded: readonly NodeJS.Signals[] = ['SIGUSR1', 'SIGUSR2', ...endings];

/**
 * Takes the signals of this process and sends them to its child. A signal that arrives before there is a child is sent to
 * it first. Ctrl-C and Ctrl-\ at a terminal reach the child from the terminal itself.
 */
export class ForwardedSignals implements Disposable {
  readonly #hasTerminal: boolean;
  #early: NodeJS.Signals[] = [];
  #send: ((signal: NodeJS.Signals) => void) | undefined;
  #lastEnding = -Infinity;

  constructor({ hasTerminal }: { readonly hasTerminal: boolean }) {
    this.#hasTerminal = hasTerminal;
    for (const signal of forwarded) process.on(signal, this.#take);
  }

  /** Whether a signal has asked this process to end since a time of `performance.now()`. */
  hasEndingSince(time: number): boolean {
    return this.#lastEnding >= time;
  }

  /** Sends signals to this child from now on. */
  sendTo(child: { kill(signal: NodeJS.Signals): unknown }): void {
    this.#send = (signal) => void child.kill(signal);
    for (const signal of this.#early) this.#send(signal);
    this.#early = [];
  }

  [Symbol.dispose](): void {
    for (const signal of forwarded) process.off(signal, this.#take);
  }

  readonly #take = (signal: NodeJS.Signals): void => {
    if (endings.includes(signal)) this.#lastEnding = performance.now();
    if (this.#hasTerminal && sentByTerminal.includes(signal)) return;
    if (this.#send === undefined) this.#early.push(signal);
    else this.#send(signal);
  };
}

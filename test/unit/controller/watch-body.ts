/** The body of a watch: lines that are sent one after the other, until it ends or its reader goes away. */
export class WatchBody {
  readonly #lines: Uint8Array[] = [];
  #wake = (): void => {};
  #isEnded = false;

  send(event: { readonly type: string; readonly object: object }): void {
    this.#lines.push(Buffer.from(`${JSON.stringify(event)}\n`));
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *read(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const aborted = new Promise<never>((_, reject) => {
      const abort = (): void => reject(new Error('aborted'));
      // One that was cut before anything was read of it ends like any other.
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    });
    aborted.catch(() => undefined);
    for (;;) {
      yield* this.#lines.splice(0);
      if (this.#isEnded) return;
      const more = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      if (this.#lines.length === 0) await Promise.race([more, aborted]);
    }
  }
}

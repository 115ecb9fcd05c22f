/** A door in a stream: what comes to it while it is shut waits until it opens. */
export class Gate {
  #opened: PromiseWithResolvers<void> | undefined;

  shut(): void {
    this.#opened ??= Promise.withResolvers<void>();
  }

  open(): void {
    this.#opened?.resolve();
    this.#opened = undefined;
  }

  async pass(): Promise<void> {
    while (this.#opened !== undefined) await this.#opened.promise;
  }
}

export type Verdict = 'forward' | 'cut';

/** How long a test waits for what it expects a proxy to see before it fails with a sentence of its own. */
const arrivalLimitMs = 90_000;

/** Something a test has ordered a proxy to look out for. */
export class Sighting<Subject> {
  readonly #what: string;
  readonly #arrival = Promise.withResolvers<Subject>();

  /** `what` names the awaited thing in the error of `arrived`. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Resolves with the thing once it has come; rejects after `limitMs` milliseconds. */
  async arrived(limitMs: number = arrivalLimitMs): Promise<Subject> {
    return withLimit(this.#arrival.promise, limitMs, `${this.#what} did not come within ${limitMs} ms`);
  }

  /** For the proxy: it has come. */
  arrive(subject: Subject): void {
    this.#arrival.resolve(subject);
  }
}

/** A message or request that a proxy has stopped, or will stop, until the test says how it goes on. */
export class Hold<Subject> extends Sighting<Subject> {
  readonly #verdict = Promise.withResolvers<Verdict>();

  /** Lets it go on. Before the arrival: lets it pass when it comes. */
  release(): void {
    this.#verdict.resolve('forward');
  }

  /** Ends its connection instead of letting it go on. */
  cut(): void {
    this.#verdict.resolve('cut');
  }

  /** For the proxy: shows what it stopped and waits for the test's word. */
  async present(subject: Subject): Promise<Verdict> {
    this.arrive(subject);
    return this.#verdict.promise;
  }
}

/** The promise's outcome, or an error with `sentence` after `limitMs` milliseconds. */
async function withLimit<Result>(promise: Promise<Result>, limitMs: number, sentence: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(sentence)), limitMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

const terminalRefreshMs = 1_000;
const logRefreshMs = 30_000;

interface Step {
  readonly name: string;
  readonly typicalMinutes: number;
}

/** Reports the progress of a build: each second in place on a terminal, twice a minute as lines elsewhere. */
export class BuildProgress {
  readonly #steps: readonly Step[];
  readonly #write: (text: string) => void;
  readonly #inPlace: boolean;

  constructor(steps: readonly Step[], output: { write(text: string): unknown; isTTY?: boolean }) {
    this.#steps = steps;
    this.#write = (text) => void output.write(text);
    this.#inPlace = output.isTTY === true;
  }

  announce(cache: string): void {
    const names = this.#steps.map((step) => step.name).join(', ');
    const minutes = sumMinutes(this.#steps);
    this.#write(`Building a local Kubernetes, once: ${names}. About ${minutes} min on two cores; kept in ${cache}.\n`);
  }

  /** Runs one step and reports its progress. */
  async during<T>(index: number, work: () => Promise<T>): Promise<T> {
    const startedAtMs = Date.now();
    const report = (elapsedMs: number): void => this.#show(progressLine(this.#steps, index, elapsedMs));
    // Not the first milliseconds of it: they would take a whole minute off what is left.
    report(0);
    const timer = setInterval(() => report(Date.now() - startedAtMs), this.#inPlace ? terminalRefreshMs : logRefreshMs);
    timer.unref();
    try {
      const result = await work();
      this.#show(`  ${position(this.#steps, index)}: built in ${seconds(Date.now() - startedAtMs)} s`);
      return result;
    } finally {
      clearInterval(timer);
      if (this.#inPlace) this.#write('\n');
    }
  }

  #show(line: string): void {
    this.#write(this.#inPlace ? `\r\u001b[2K${line}` : `${line}\n`);
  }
}

/** One line: which binary of how many, the seconds it has taken, the minutes typical of it, and what is left of all. */
export function progressLine(steps: readonly Step[], index: number, elapsedMs: number): string {
  const present = steps[index]?.typicalMinutes ?? 0;
  const left = Math.max(0, present - elapsedMs / 60_000) + sumMinutes(steps.slice(index + 1));
  const typical = `typically ${present} min on two cores`;
  const rest = left < 1 ? 'less than 1 min' : `about ${Math.ceil(left)} min`;
  return `  ${position(steps, index)}: ${seconds(elapsedMs)} s (${typical}); ${rest} left in all`;
}

function position(steps: readonly Step[], index: number): string {
  return `${index + 1}/${steps.length} ${steps[index]?.name ?? ''}`;
}

function sumMinutes(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => sum + step.typicalMinutes, 0);
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 1000);
}

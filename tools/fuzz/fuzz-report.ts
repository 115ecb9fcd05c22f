/** What a run of schemathesis came to: one test for each check of an operation, and one for its having done its work. */
export interface FuzzResult {
  readonly passed: number;
  readonly failed: number;
  /** A line for each failure. */
  readonly faults: readonly string[];
}

/** The parts of schemathesis's NDJSON report that are read here: one event a line, under its name. */
interface ReportEvent {
  readonly ScenarioFinished?: { readonly recorder: Recorder };
  readonly NonFatalError?: ErrorEvent;
  readonly FatalError?: ErrorEvent;
  readonly EngineFinished?: { readonly stop_reason: string };
}

interface ErrorEvent {
  readonly label?: string;
  readonly value?: { readonly message?: string };
}

interface Recorder {
  /** The operation, as `GET /api/v1/me`. */
  readonly label: string;
  readonly checks?: Readonly<Record<string, readonly Check[]>>;
  readonly interactions?: Readonly<Record<string, Interaction>>;
}

interface Check {
  readonly name: string;
  readonly status: string;
  readonly failure_info?: { readonly failure?: { readonly title?: string; readonly message?: string } };
}

interface Interaction {
  readonly request: { readonly method: string; readonly uri: string };
  readonly response?: { readonly status_code: number } | null;
}

/** What a run is to show. */
export interface Expected {
  readonly operations: readonly string[];
  readonly checks: readonly string[];
  /** Operations that the caller of the run may not do: none of their answers is 2xx. */
  readonly refused?: ReadonlySet<string>;
}

/**
 * Judges the report of a run over these operations. An operation of which a check was never made, one that never
 * answered 2xx although the caller may do it, an error of the fuzzer's own and a run that did not come to its end are failures.
 */
export function judgeReport(report: string, expected: Expected): FuzzResult {
  const events = report.split('\n').filter((line) => line !== '');
  const judge = new Judge();
  for (const line of events) judge.take(JSON.parse(line) as ReportEvent);
  return judge.result(expected);
}

class Judge {
  /** `<operation> <check>` → whether it held every time. */
  readonly #outcomes = new Map<string, boolean>();
  readonly #succeeded = new Set<string>();
  readonly #faults = new Set<string>();
  readonly #errors = new Set<string>();
  #ended = false;

  take({ ScenarioFinished, NonFatalError, FatalError, EngineFinished }: ReportEvent): void {
    if (ScenarioFinished !== undefined) this.#takeScenario(ScenarioFinished.recorder);
    const error = NonFatalError ?? FatalError;
    if (error !== undefined) {
      this.#errors.add(`${error.label ?? 'schemathesis'}: ${firstLine(error.value?.message ?? 'failed')}`);
    }
    if (EngineFinished !== undefined) this.#ended = EngineFinished.stop_reason === 'completed';
  }

  result({ operations, checks, refused = new Set() }: Expected): FuzzResult {
    if (!this.#ended) this.#errors.add('the run did not come to its end');
    let [passed, failed] = [0, this.#errors.size];
    for (const operation of operations) {
      for (const check of checks) {
        const held = this.#outcomes.get(`${operation} ${check}`);
        if (held === true) passed += 1;
        else failed += 1;
        if (held === undefined) this.#faults.add(`${operation}: ${check} was never checked`);
      }
      if (this.#succeeded.has(operation) !== refused.has(operation)) passed += 1;
      else {
        failed += 1;
        const fault = refused.has(operation) ? 'was answered with 2xx' : 'was never answered with 2xx';
        this.#faults.add(`${operation}: ${fault}`);
      }
    }
    return { passed, failed, faults: [...this.#errors, ...this.#faults] };
  }

  #takeScenario({ label, checks = {}, interactions = {} }: Recorder): void {
    const answers = new Map(Object.entries(interactions).map(([id, interaction]) => [id, statusOf(interaction)]));
    for (const [id, { request }] of Object.entries(interactions)) {
      if (isSuccess(answers.get(id)) && label.startsWith(`${request.method} `)) this.#succeeded.add(label);
    }
    for (const [id, made] of Object.entries(checks)) {
      for (const check of made) this.#takeCheck(label, check, answers.get(id));
    }
  }

  #takeCheck(label: string, { name, status, failure_info: info }: Check, answered = 0): void {
    const key = `${label} ${name}`;
    const held = status === 'success' || status === 'skip';
    this.#outcomes.set(key, this.#outcomes.get(key) !== false && held);
    if (held) return;
    const { title = name, message = '' } = info?.failure ?? {};
    this.#faults.add(`${label}: ${name}: ${title} ${firstLine(message)} (answered ${answered})`);
  }
}

/** 0 where nothing was answered. */
function statusOf({ response }: Interaction): number {
  return response?.status_code ?? 0;
}

function isSuccess(status = 0): boolean {
  return status >= 200 && status < 300;
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}

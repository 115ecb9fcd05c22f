/** One label matcher of a selector. */
export interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

/** A selector of a query, such as `up{job="a"}`. The name of the metric is a matcher too, of the label `__name__`. */
export interface Selector {
  readonly matchers: readonly Matcher[];
}

/** What a query asks for. */
export interface Query {
  readonly selectors: readonly Selector[];
  /** Labels by which it groups or joins: those in `by`, `without`, `on`, `ignoring` and `group_…`. */
  readonly grouping: readonly string[];
}

const token =
  /\s+|#.*|(?<range>\[[^\]]*\])|(?<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?<name>[A-Za-z_:][\w:]*)|(?<number>[\d.]+\w*)|(?<sign>[=!<>]=|=~|!~|[-+*/%^@=<>(){},])/y;

const groupers: ReadonlySet<string> = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const operators: ReadonlySet<string> = new Set([
  'and',
  'or',
  'unless',
  'bool',
  'offset',
  'atan2',
  'start',
  'end',
  'inf',
  'nan',
]);

/**
 * Reads which metrics, labels and values a query in PromQL asks for; Grafana's variables pass as text and ranges. It judges
 * no grammar beyond that. Throws for a character that PromQL does not have.
 */
export function readQuery(text: string): Query {
  return new QueryReader(tokens(text)).read();
}

function tokens(text: string): string[] {
  const found: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    if (match === null) throw new Error(`The query has something unknown at ${at}: ${text.slice(at, at + 20)}`);
    const { text: quoted, name, number, sign } = match.groups ?? {};
    const kept = quoted ?? name ?? number ?? sign;
    if (kept !== undefined) found.push(kept);
  }
  return found;
}

class QueryReader {
  readonly #tokens: readonly string[];
  readonly #selectors: Selector[] = [];
  readonly #grouping: string[] = [];
  #at = 0;

  constructor(all: readonly string[]) {
    this.#tokens = all;
  }

  read(): Query {
    while (this.#at < this.#tokens.length) this.#step(this.#next());
    return { selectors: this.#selectors, grouping: this.#grouping };
  }

  #step(word: string): void {
    if (word === '{') this.#selectors.push({ matchers: this.#matchers() });
    if (!/^[A-Za-z_:]/.test(word) || operators.has(word.toLowerCase())) return;
    const follower = this.#tokens[this.#at];
    if (groupers.has(word.toLowerCase())) {
      // The list of group_left may be absent.
      if (follower === '(') this.#grouping.push(...this.#names());
    } else if (follower !== '(' && follower !== 'by' && follower !== 'without') {
      const named: Matcher = { label: '__name__', operator: '=', value: word };
      const more = follower === '{' ? (this.#next(), this.#matchers()) : [];
      this.#selectors.push({ matchers: [named, ...more] });
    }
  }

  #next(): string {
    const word = this.#tokens[this.#at++];
    if (word === undefined) throw new Error('The query ends too early.');
    return word;
  }

  #names(): string[] {
    const names: string[] = [];
    for (let word = this.#next(); word !== ')'; word = this.#next()) if (/^\w/.test(word)) names.push(word);
    return names;
  }

  /** Of the braces, the first of which has been read. */
  #matchers(): Matcher[] {
    const matchers: Matcher[] = [];
    for (let word = this.#next(); word !== '}'; word = this.#next()) {
      if (word === ',') continue;
      const [operator, quoted] = [this.#next() as Matcher['operator'], this.#next()];
      matchers.push({ label: word, operator, value: quoted.slice(1, -1).replaceAll(/\\(.)/g, '$1') });
    }
    return matchers;
  }
}

/** Whether a value of a label passes a matcher. Expressions are anchored, as Prometheus has it. */
export function isMatched(value: string, { operator, value: wanted }: Matcher): boolean {
  if (operator === '=') return value === wanted;
  if (operator === '!=') return value !== wanted;
  return new RegExp(`^(?:${wanted})$`).test(value) === (operator === '=~');
}

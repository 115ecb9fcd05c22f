/** One server-sent event (the HTML standard, section 9.2). */
export interface SentEvent {
  readonly event: string;
  /** Where a reader resumes after this event; undefined if that stays as it is. */
  readonly id: string | undefined;
  /** Parsed JSON. */
  readonly data: unknown;
}

// Far above an event with all keys of an environment.
const defaultMaxLength = 16 * 1024 * 1024;

/** Reads the text of a stream of events, in whatever parts it arrives. Comments carry nothing and are left out. */
export class EventParser {
  readonly #maxLength: number;
  #rest = '';

  /** @param maxLength of one event */
  constructor(maxLength = defaultMaxLength) {
    this.#maxLength = maxLength;
  }

  /** The events that are complete with this part. Throws SyntaxError for data that is not JSON, and for an endless event. */
  read(part: string): SentEvent[] {
    // Joined first: a part can end between the two characters of a line's end.
    const blocks = (this.#rest + part).replaceAll('\r\n', '\n').split('\n\n');
    this.#rest = blocks.pop() ?? '';
    if (this.#rest.length > this.#maxLength) throw new SyntaxError('an event is too long');
    return blocks.flatMap((block) => parsedEvent(block) ?? []);
  }
}

function parsedEvent(block: string): SentEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
    if (name !== '') fields.set(name, value);
  }
  const [event, data] = [fields.get('event'), fields.get('data')];
  if (event === undefined || data === undefined) return undefined;
  return { event, id: fields.get('id'), data: JSON.parse(data) as unknown };
}

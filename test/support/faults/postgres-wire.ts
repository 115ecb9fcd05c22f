/**
 * As much of PostgreSQL's wire protocol 3 as a proxy needs to distinguish the messages
 * (https://www.postgresql.org/docs/current/protocol-message-formats.html).
 */

/** One whole message: `type` is its letter, or empty for the packets before the typed ones begin. */
export interface Frame {
  readonly type: string;
  readonly payload: Buffer;
  readonly bytes: Buffer;
}

export type FrontendType = 'Startup' | 'SSLRequest' | 'GSSENCRequest' | 'CancelRequest' | TypedFrontend | 'Other';

const typedFrontend = {
  B: 'Bind',
  C: 'Close',
  D: 'Describe',
  E: 'Execute',
  H: 'Flush',
  P: 'Parse',
  Q: 'Query',
  S: 'Sync',
  X: 'Terminate',
  p: 'Password',
} as const;
type TypedFrontend = (typeof typedFrontend)[keyof typeof typedFrontend];

/** A message of a client, as rules see it. */
export interface FrontendMessage {
  /** Number of the connection it came on, from 1. */
  readonly connection: number;
  readonly type: FrontendType;
  /** Of Query and Parse their text; of Bind, Describe, Execute and Close the text behind the name they use. */
  readonly sql: string | undefined;
  /** Of Bind: the parameters as they travel (text or binary format), null for NULL. */
  readonly parameters: readonly (Buffer | null)[];
}

const requestCodes = new Map<number, FrontendType>([
  [80877102, 'CancelRequest'],
  [80877103, 'SSLRequest'],
  [80877104, 'GSSENCRequest'],
]);

/** Cuts a byte stream into messages. */
export class FrameSplitter {
  #rest: Buffer = Buffer.alloc(0);
  #typed: boolean;

  /** `typed` is false for a client's stream, which begins with packets that have no type letter. */
  constructor({ typed }: { typed: boolean }) {
    this.#typed = typed;
  }

  /** The messages that are complete after this chunk. */
  push(chunk: Buffer): Frame[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Frame[] = [];
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) frames.push(frame);
    return frames;
  }

  #next(): Frame | undefined {
    const head = this.#typed ? 1 : 0;
    if (this.#rest.length < head + 4) return undefined;
    const end = head + this.#rest.readInt32BE(head);
    if (this.#rest.length < end) return undefined;
    const bytes = this.#rest.subarray(0, end);
    this.#rest = this.#rest.subarray(end);
    const frame = { type: bytes.toString('latin1', 0, head), payload: bytes.subarray(head + 4), bytes };
    if (!this.#typed) this.#typed = untypedKind(frame) === 'Startup';
    return frame;
  }
}

/** Reads a connection's messages, remembering which text each prepared statement and portal stands for. */
export class FrontendReader {
  readonly #connection: number;
  readonly #statements = new Map<string, string>();
  readonly #portals = new Map<string, string>();

  constructor(connection: number) {
    this.#connection = connection;
  }

  read(frame: Frame): FrontendMessage {
    const type =
      frame.type === '' ? untypedKind(frame) : (typedFrontend[frame.type as keyof typeof typedFrontend] ?? 'Other');
    const fields = new FieldReader(frame.payload);
    const { sql, parameters = [] } = this.#body(type, fields);
    return { connection: this.#connection, type, sql, parameters };
  }

  #body(type: FrontendType, fields: FieldReader): { sql: string | undefined; parameters?: (Buffer | null)[] } {
    switch (type) {
      case 'Query':
        return { sql: fields.text() };
      case 'Parse': {
        const [name, sql] = [fields.text(), fields.text()];
        this.#statements.set(name, sql);
        return { sql };
      }
      case 'Bind': {
        const [portal, sql] = [fields.text(), this.#statements.get(fields.text())];
        if (sql !== undefined) this.#portals.set(portal, sql);
        return { sql, parameters: fields.parameters() };
      }
      case 'Execute':
        return { sql: this.#portals.get(fields.text()) };
      case 'Describe':
      case 'Close': {
        const names = fields.letter() === 'S' ? this.#statements : this.#portals;
        const name = fields.text();
        const sql = names.get(name);
        if (type === 'Close') names.delete(name);
        return { sql };
      }
      default:
        return { sql: undefined };
    }
  }
}

/** The parameters of a Startup packet: user, database, application_name and such. */
export function startupParameters(frame: Frame): Map<string, string> {
  const texts = frame.payload.subarray(4).toString('utf8').split('\0');
  const parameters = new Map<string, string>();
  for (let i = 0; i + 1 < texts.length && texts[i] !== ''; i += 2) parameters.set(texts[i] ?? '', texts[i + 1] ?? '');
  return parameters;
}

function untypedKind(frame: Frame): FrontendType {
  return requestCodes.get(frame.payload.readInt32BE(0)) ?? 'Startup';
}

class FieldReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  letter(): string {
    this.#at += 1;
    return this.#bytes.toString('latin1', this.#at - 1, this.#at);
  }

  text(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
  }

  /** Skips a Bind's format codes and reads its values. */
  parameters(): (Buffer | null)[] {
    const formats = this.#int16();
    this.#at += formats * 2;
    return Array.from({ length: this.#int16() }, () => this.#value());
  }

  #value(): Buffer | null {
    const length = this.#bytes.readInt32BE(this.#at);
    this.#at += 4;
    if (length === -1) return null;
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #int16(): number {
    this.#at += 2;
    return this.#bytes.readUInt16BE(this.#at - 2);
  }
}

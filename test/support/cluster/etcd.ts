import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';

/** One key of etcd, as it is stored. */
export interface EtcdEntry {
  readonly key: Buffer;
  readonly value: Buffer;
}

interface EtcdRange {
  readonly kvs?: readonly { readonly key: string; readonly value?: string }[];
  readonly more?: boolean;
}

/** etcd behind a cluster's API server, by its JSON gateway: https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/ */
export class Etcd {
  readonly #folder: string;
  readonly #socketPath: string;

  private constructor(folder: string, socketPath: string) {
    this.#folder = folder;
    this.#socketPath = socketPath;
  }

  /** `socket` is etcd's client socket. Call `close` at the end. */
  static async open(socket: string): Promise<Etcd> {
    // The path of a socket may have 107 bytes at most, so a short one leads to it.
    const folder = await mkdtemp(join(tmpdir(), 'kf-'));
    await symlink(dirname(socket), join(folder, 'run'));
    return new Etcd(folder, join(folder, 'run', basename(socket)));
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }

  /** The value of one key; undefined if there is none. */
  async get(key: string): Promise<Buffer | undefined> {
    const { kvs = [] } = (await this.#call('range', { key: encoded(key) })) as EtcdRange;
    const [found] = kvs;
    return found === undefined ? undefined : Buffer.from(found.value ?? '', 'base64');
  }

  /** Writes a key past the API server, which sees it by its watch. */
  async put(key: string, value: Buffer): Promise<void> {
    await this.#call('put', { key: encoded(key), value: value.toString('base64') });
  }

  /** The entries from a key on, a page of them, and the key to go on from. */
  async page(from: Buffer): Promise<{ readonly entries: readonly EtcdEntry[]; readonly next: Buffer | undefined }> {
    const range = { key: from.toString('base64'), range_end: 'AA==', limit: '500' };
    const { kvs = [], more = false } = (await this.#call('range', range)) as EtcdRange;
    const entries = kvs.map(({ key, value = '' }) => ({
      key: Buffer.from(key, 'base64'),
      value: Buffer.from(value, 'base64'),
    }));
    const last = entries.at(-1)?.key;
    return { entries, next: more && last !== undefined ? Buffer.concat([last, Buffer.from([0])]) : undefined };
  }

  async #call(method: 'range' | 'put', body: unknown): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const call = request(
      { socketPath: this.#socketPath, path: `/v3/kv/${method}`, method: 'POST' },
      (answer) => void answered(method, answer).then(resolve, reject),
    );
    call.once('error', reject).end(JSON.stringify(body));
    return await promise;
  }
}

async function answered(method: string, answer: IncomingMessage): Promise<unknown> {
  const body = await json(answer);
  if (answer.statusCode !== 200) throw new Error(`etcd answered ${method} with ${JSON.stringify(body)}`);
  return body;
}

function encoded(key: string): string {
  return Buffer.from(key, 'utf8').toString('base64');
}

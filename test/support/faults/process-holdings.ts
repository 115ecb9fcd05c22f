import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

/** What a process has of secrets and connections, as Linux shows it (proc(5)). */
export interface ProcessHoldings {
  /** Its environment and its arguments. */
  readonly environment: Buffer;
  /** The content of each file that it holds open. */
  readonly files: Buffer;
  /** The remote ports of its TCP connections. */
  readonly remotePorts: readonly number[];
}

const maxFileBytes = 2 ** 20;

export function holdingsOf(pid: number): ProcessHoldings {
  const folder = `/proc/${pid}`;
  const links = readdirSync(`${folder}/fd`).flatMap((number) => linkOf(`${folder}/fd/${number}`));
  const sockets = new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.slice(1) ?? []));
  return {
    environment: Buffer.concat(['environ', 'cmdline'].map((name) => readFileSync(`${folder}/${name}`))),
    files: Buffer.concat(links.filter((link) => link.startsWith('/')).map(contentOf)),
    remotePorts: ['tcp', 'tcp6'].flatMap((table) => portsOf(readFileSync(`${folder}/net/${table}`, 'utf8'), sockets)),
  };
}

// A file can be closed between the list and the look.
function linkOf(path: string): string[] {
  try {
    return [readlinkSync(path)];
  } catch {
    return [];
  }
}

function contentOf(path: string): Buffer {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size <= maxFileBytes ? readFileSync(path) : Buffer.alloc(0);
}

/** Columns: number, local address, remote address, state, queues, timer, retransmits, user, timeout, inode. */
function portsOf(table: string, sockets: ReadonlySet<string>): number[] {
  const rows = table.trim().split('\n').slice(1);
  return rows.flatMap((row) => {
    const columns = row.trim().split(/\s+/);
    const port = Number.parseInt(columns[2]?.split(':')[1] ?? '0', 16);
    return sockets.has(columns[9] ?? '') && port !== 0 ? [port] : [];
  });
}

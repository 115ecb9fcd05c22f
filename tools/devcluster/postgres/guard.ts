import { spawn } from 'node:child_process';

export interface Guard {
  /** The server was stopped in order: the guard has nothing left to do and goes. */
  dismiss(): void;
}

interface GuardOptions {
  /** The server's first process. */
  readonly pid: number;
  readonly folder: string;
  /** Whether the folder is to be removed as well. */
  readonly temporary: boolean;
}

// The read ends when the pipe closes, which the kernel does however our process ends. The process number was our child's,
// and is compared with the server's own note of it.
const script = `
read -r word && exit 0
noted() { [ "$(head -n 1 "$2/data/postmaster.pid" 2>/dev/null)" = "$1" ]; }
noted "$1" "$2" && kill -INT "$1" 2>/dev/null
tries=0
while [ "$tries" -lt 200 ] && noted "$1" "$2" && kill -0 "$1" 2>/dev/null; do
  tries=$((tries + 1))
  [ "$tries" -eq 100 ] && kill -QUIT "$1"
  [ "$tries" -gt 150 ] && kill -KILL "$1"
  sleep 0.1
done
[ "$3" = temporary ] && rm -rf "$2"
`;

/** Starts a tiny process that stops the server, and removes temporary data, if this process ends without having done so. */
export function startGuard({ pid, folder, temporary }: GuardOptions): Guard {
  const child = spawn(
    '/bin/sh',
    ['-c', script, 'keyframe-guard', String(pid), folder, temporary ? 'temporary' : 'kept'],
    {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  );
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  (child.stdin as typeof child.stdin & { unref?(): void }).unref?.();
  return { dismiss: () => void child.stdin.end('stopped\n') };
}

import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port of 127.0.0.1 that a server of this run will listen on. */
export interface WantedPort {
  readonly port: string;
  /** The environment variable that moves it. */
  readonly variable: string;
}

/** Throws a sentence that names the first port which is no port number, wanted twice or taken, and its variable. */
export async function requireFreePorts(wanted: readonly WantedPort[]): Promise<void> {
  const seen = new Set<number>();
  for (const { port, variable } of wanted) {
    const number = Number(port);
    if (!Number.isInteger(number) || number < 1 || number > 65_535) {
      throw new Error(`"${port}" is no port from 1 to 65535: set ${variable} to another one.`);
    }
    if (seen.has(number)) throw new Error(`Port ${port} is wanted twice: set ${variable} to another one.`);
    seen.add(number);
    const code = await faultOf(number);
    if (code === undefined) continue;
    if (code === 'EADDRINUSE') throw new Error(`Port ${port} is taken: stop what uses it or set ${variable}.`);
    throw new Error(`Port ${port} cannot be listened on (${code}): set ${variable} to another one.`);
  }
}

/** Why the port cannot be listened on; undefined if it can. */
async function faultOf(port: number): Promise<string | undefined> {
  const probe = createServer();
  try {
    await once(probe.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
  probe.close();
  await once(probe, 'close');
  return undefined;
}

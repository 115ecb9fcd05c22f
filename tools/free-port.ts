import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ports that the kernel gives to connections going out (from 32768 on): these are rarely taken by chance.
const [lowest, highest] = [10_240, 32_767];
const mostTries = 100;

/**
 * A TCP port of 127.0.0.1 on which no process listens now. It is chosen by chance, so that another process that looks for
 * one at the same time hardly ever takes it before the caller does. Throws where it finds none.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const port = randomInt(lowest, highest + 1);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${mostTries} ports of 127.0.0.1 between ${lowest} and ${highest} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

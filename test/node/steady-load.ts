import { CapturedProcess } from '../support/faults/captured-process.ts';
import type { NodeSite } from '../support/node/node-site.ts';

export interface LoadTarget {
  /** What is asked for, with GET; every answer has to be 200. */
  readonly url: string;
  /** The bearer token. */
  readonly token: string;
  /** How many ask at once, each over one connection that it keeps; 4 if absent. */
  readonly clients?: number;
}

export interface LoadFailure {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** The status, or the code of the error. */
  readonly what: string;
  /** Whether the connection had carried a request before: its end may have crossed with this one's beginning. */
  readonly onKeptConnection: boolean;
}

export interface LoadResult {
  readonly requests: number;
  readonly failures: readonly LoadFailure[];
  /** The longest time that an answer took. */
  readonly slowestMs: number;
}

/** Requests that go on, one after the other from each client, until they are stopped. */
export interface SteadyLoad {
  /** Answers what became of them, once the last is answered. */
  stop(): Promise<LoadResult>;
}

// Runs as CommonJS in a process or a pod of its own, so that the load is as steady as the test is busy. It prints its result
// when it is asked to end.
const loadScript = `
const { Agent, get } = require('node:http');
const { url, token, clients } = JSON.parse(process.env.LOAD);
const result = { requests: 0, failures: [], slowestMs: 0 };
let going = true;
const ask = (agent) => new Promise((resolve) => {
  const begun = performance.now();
  const fail = (request, what) => {
    result.failures.push({ atMs: Date.now(), what: String(what), onKeptConnection: request.reusedSocket });
    resolve();
  };
  const request = get(url, { agent, headers: { authorization: 'Bearer ' + token }, timeout: 10000 }, (response) => {
    response.on('error', (error) => fail(request, error.code));
    response.on('end', () => {
      result.slowestMs = Math.max(result.slowestMs, performance.now() - begun);
      if (response.statusCode === 200) resolve();
      else fail(request, response.statusCode);
    });
    response.resume();
  });
  request.on('timeout', () => request.destroy(Object.assign(new Error(), { code: 'TIMEOUT' })));
  request.on('error', (error) => fail(request, error.code));
});
const client = async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (going) {
    result.requests += 1;
    await ask(agent);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  agent.destroy();
};
process.on('SIGTERM', () => { going = false; });
console.log('started');
Promise.all(Array.from({ length: clients }, client)).then(() => console.log(JSON.stringify(result)));
`;

/** Asks from this machine, which reaches the node's Services. It goes with `resources`. */
export function startLoad(resources: AsyncDisposableStack, target: LoadTarget): SteadyLoad {
  const load = new CapturedProcess({
    name: 'load',
    program: process.execPath,
    args: ['-e', loadScript],
    env: loadEnvironment(target),
  });
  resources.defer(async () => void (await load.end('SIGKILL')));
  return {
    stop: async () => {
      await load.end('SIGTERM');
      return readResult(load.output.toString());
    },
  };
}

/** Asks from a pod, which finds Services by their names. */
export async function startLoadInPod(
  site: NodeSite,
  namespace: string,
  { name = 'load', ...target }: LoadTarget & { readonly name?: string },
): Promise<SteadyLoad> {
  await site.runPod(namespace, { name, script: loadScript, env: loadEnvironment(target) });
  return {
    stop: async () => {
      const follow = site.kubectl(['-n', namespace, 'logs', '--follow', `pod/${name}`]);
      // The end of the pod may cut off what is run in it.
      await site.exec(namespace, `pod/${name}`, ['node', '-e', `process.kill(1, 'SIGTERM')`]).catch(() => undefined);
      return readResult(await follow);
    },
  };
}

function loadEnvironment({ url, token, clients = 4 }: LoadTarget): Record<string, string> {
  return { LOAD: JSON.stringify({ url, token, clients }) };
}

function readResult(output: string): LoadResult {
  const line = /^\{.*\}$/m.exec(output)?.[0];
  if (line === undefined) throw new Error(`The load ended without a result:\n${output}`);
  return JSON.parse(line) as LoadResult;
}

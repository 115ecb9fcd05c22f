import { openSync, readSync } from 'node:fs';

// Loaded into a process before its program: its wall clock is then ahead by the milliseconds that a file holds, at each look.
const file = openSync(process.env['MOVED_CLOCK_FILE'] ?? '', 'r');
const offset = Buffer.alloc(8);
const realNow = Date.now;
const realSetTimeout = globalThis.setTimeout;
const realClearTimeout = globalThis.clearTimeout;
const helloIntervalMs = 60_000;
const lookIntervalMs = 20;
/** What runs once a minute, the next hello of the controller among it, by the timer that waits. */
const waiting = new Map<NodeJS.Timeout, () => void>();
let heardMs = aheadMs();

Date.now = () => realNow() + aheadMs();

// The controller has the time of the database from the answer to a hello. A move is followed by the next hello at once.
globalThis.setTimeout = Object.assign((callback: () => void, delayMs?: number, ...rest: []): NodeJS.Timeout => {
  // Those of connections have arguments.
  if (delayMs !== helloIntervalMs || rest.length > 0) return realSetTimeout(callback, delayMs, ...rest);
  const run = (): void => {
    waiting.delete(timer);
    callback();
  };
  const timer = realSetTimeout(run, delayMs);
  waiting.set(timer, run);
  return timer;
}, realSetTimeout);

globalThis.clearTimeout = (timer): void => {
  if (typeof timer === 'object') waiting.delete(timer);
  realClearTimeout(timer);
};

setInterval(() => {
  const presentMs = aheadMs();
  if (presentMs === heardMs) return;
  heardMs = presentMs;
  // What they set comes a minute later.
  const due = [...waiting];
  waiting.clear();
  for (const [timer, run] of due) {
    realClearTimeout(timer);
    run();
  }
}, lookIntervalMs).unref();

function aheadMs(): number {
  readSync(file, offset, 0, 8, 0);
  return offset.readDoubleBE();
}

import { createServer } from 'node:http';

// Loaded into a process before its program: it measures the CPU time of its event loop, in milliseconds. On the port of
// its query, `/turn` answers with that of the longest turn since it was last asked, and `/used` with all of it. CPU time
// and not time, so that other processes on the same cores do not count.
const port = Number(new URL(import.meta.url).searchParams.get('port'));

function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

let longestMs = 0;
let lastMs = usedMs();

function sample(): void {
  const nowMs = usedMs();
  longestMs = Math.max(longestMs, nowMs - lastMs);
  lastMs = nowMs;
}

// Timers run once a turn at most.
setInterval(sample, 1).unref();

function longestTurnMs(): number {
  sample();
  const ms = longestMs;
  longestMs = 0;
  return ms;
}

// Each answer ends its connection. A client that is busy for longer than an idle one is kept would else ask on one that
// this process has closed.
createServer(({ url }, response) => {
  response.setHeader('Connection', 'close').end(String(url === '/used' ? usedMs() : longestTurnMs()));
})
  .listen(port, '127.0.0.1')
  .unref();

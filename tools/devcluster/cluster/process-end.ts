const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof signals)[number];

const cleanUps = new Set<() => void>();
let signalUsers = 0;

/** Runs a clean-up, which must be synchronous, when this process exits or dies of an uncaught error. The answer forgets it. */
export function onProcessEnd(cleanUp: () => void): () => void {
  if (cleanUps.size === 0) process.on('exit', runCleanUps);
  cleanUps.add(cleanUp);
  return () => {
    if (cleanUps.delete(cleanUp) && cleanUps.size === 0) process.off('exit', runCleanUps);
  };
}

/**
 * Until the answer is called, SIGINT, SIGTERM and SIGHUP run the clean-ups and then end the process, as they do
 * without a listener. For programs without handlers of their own that exit.
 */
export function endOnSignals(): () => void {
  signalUsers += 1;
  if (signalUsers === 1) for (const signal of signals) process.on(signal, endBySignal);
  let released = false;
  return () => {
    if (released) return;
    released = true;
    signalUsers -= 1;
    if (signalUsers === 0) for (const signal of signals) process.off(signal, endBySignal);
  };
}

// All listeners go: libraries that listen politely, each leaving the end to the others, would keep the process alive together.
function endBySignal(signal: Signal): void {
  runCleanUps();
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

function runCleanUps(): void {
  for (const cleanUp of cleanUps) {
    cleanUps.delete(cleanUp);
    try {
      cleanUp();
    } catch (error) {
      console.error(error);
    }
  }
}

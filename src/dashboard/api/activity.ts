/** Whether a person uses the page: requests that the page makes by itself must not keep a session from ending. */

const activeMs = 60_000;

let lastInput = performance.now();

for (const event of ['pointerdown', 'keydown', 'wheel'] as const) {
  window.addEventListener(event, () => void (lastInput = performance.now()), { capture: true, passive: true });
}

/** Whether there was input within the last minute. */
export function isUserActive(): boolean {
  return performance.now() - lastInput < activeMs;
}

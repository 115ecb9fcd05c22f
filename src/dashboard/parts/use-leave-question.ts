import { useEffect } from 'react';

/** While there is something to lose, the browser asks before the page is left. */
export function useLeaveQuestion(hasSomething: boolean): void {
  useEffect(() => {
    if (!hasSomething) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [hasSomething]);
}

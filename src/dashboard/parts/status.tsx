import type { ReactNode } from 'react';

export type Tone = 'good' | 'warn' | 'danger' | 'neutral';

/** A state in a word, with a dot of its color. The color is never the only sign. */
export function Status({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }): ReactNode {
  return (
    <span className={`status status-${tone}`}>
      <span className="dot" aria-hidden="true" />
      {children}
    </span>
  );
}

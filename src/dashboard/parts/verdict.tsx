import type { ReactNode } from 'react';
import { type Whereabouts, verdictOf } from '../text/newest.ts';
import { Status } from './status.tsx';

export interface VerdictProps {
  readonly where: Whereabouts;
  /** What the Secrets are to hold: "revision 5", "the newest revision". */
  readonly newest: string;
  /** Whether the newest attempt to read it failed, so that it may be of an earlier time. */
  readonly isOld: boolean;
}

/** Whether the newest revision is everywhere, and if not, everything that is wrong. */
export function Verdict({ where, newest, isOld }: VerdictProps): ReactNode {
  const findings = verdictOf(where, newest).filter(({ tone }) => !isOld || tone !== 'good');
  return (
    <span className="statuses verdict">
      {isOld ? <Status tone="warn">The server no longer says how it is. What is below may be old.</Status> : undefined}
      {findings.map(({ tone, text }) => (
        <Status key={text} tone={tone}>
          {text}
        </Status>
      ))}
    </span>
  );
}

import type { ReactNode } from 'react';
import { AlertIcon, CheckIcon } from './icons.tsx';

export interface NoticeProps {
  readonly kind?: 'error' | 'info' | 'done';
  readonly children: ReactNode;
}

/** A message on the page. An error is announced when it appears. */
export function Notice({ kind = 'error', children }: NoticeProps): ReactNode {
  return (
    <div
      className={`notice notice-${kind === 'error' ? 'error' : 'info'}`}
      role={kind === 'error' ? 'alert' : 'status'}
    >
      {kind === 'done' ? <CheckIcon /> : <AlertIcon />}
      <div>{children}</div>
    </div>
  );
}

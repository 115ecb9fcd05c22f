import type { ReactNode } from 'react';
import { AlertIcon } from './icons.tsx';

export interface NoticeProps {
  readonly kind?: 'error' | 'info';
  readonly children: ReactNode;
}

/** A message on the page. An error is announced when it appears. */
export function Notice({ kind = 'error', children }: NoticeProps): ReactNode {
  return (
    <div className={`notice notice-${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      <AlertIcon />
      <div>{children}</div>
    </div>
  );
}

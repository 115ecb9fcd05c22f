import type { ReactNode } from 'react';
import type { ApiError } from '../api/client.ts';
import { Failure } from './failure.tsx';

interface WaitingProps {
  readonly error: ApiError | null;
  /** What is loaded. */
  readonly name: string;
  readonly onRetry: () => void;
}

/** In place of a list until it is there. */
export function Waiting({ error, name, onRetry }: WaitingProps): ReactNode {
  if (error !== null) return <Failure error={error} onRetry={onRetry} />;
  return (
    <div className="rows">
      <output className="row row-waiting" aria-label={`Loading the ${name}`} />
    </div>
  );
}

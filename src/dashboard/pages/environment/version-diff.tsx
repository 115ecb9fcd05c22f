import type { ReactNode } from 'react';
import { readVersionValue } from '../../api/secrets.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useRevealed } from '../../state/revealed.ts';
import { type DiffLine, lineDiff } from '../../text/line-diff.ts';
import type { Place } from '../../text/place.ts';
import { Mask } from './secret-value.tsx';

export interface VersionDiffProps {
  readonly name: string;
  readonly place: Place;
  readonly versions: readonly [number, number];
}

const signs = { both: ' ', before: '−', after: '+' } as const;

/** How the value of one version differs from that of another, once the user reveals both. */
export function VersionDiff({ name, place, versions }: VersionDiffProps): ReactNode {
  const [before, after] = [Math.min(...versions), Math.max(...versions)];
  const { value, isBusy, error, reveal, hide } = useRevealed(async () => {
    const [from, to] = await Promise.all([readVersionValue(place, name, before), readVersionValue(place, name, after)]);
    return from === to ? 'same' : lineDiff(from, to);
  });
  return (
    <div className="version-panel">
      <p className="small muted">
        From v{before} to v{after}. It reads both values, which the audit records.
      </p>
      {value === undefined ? (
        <div className="value-box">
          <Mask />
        </div>
      ) : value === 'same' ? (
        <p>Both versions have the same value.</p>
      ) : (
        <Lines lines={value} />
      )}
      {error === undefined ? undefined : <Notice>{error}</Notice>}
      <div className="drawer-buttons">
        <Button busy={isBusy} onClick={value === undefined ? reveal : hide}>
          {value === undefined ? 'Show the difference' : 'Hide'}
        </Button>
      </div>
    </div>
  );
}

function Lines({ lines }: { readonly lines: readonly DiffLine[] }): ReactNode {
  return (
    <pre className="diff">
      {lines.map(({ side, text }, index) => (
        <span key={index} className={`diff-line diff-${side}`}>
          <span className="diff-sign">{signs[side]}</span>
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}

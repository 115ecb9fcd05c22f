import { type ReactNode, useState } from 'react';
import { readValue } from '../../api/secrets.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useRefusal, useRevealed } from '../../state/revealed.ts';
import type { Place } from '../../text/place.ts';
import { copyLater } from './copy-later.ts';
import { Mask } from './secret-value.tsx';

/** The whole present value, once the user reveals it. */
export function CurrentValue({ name, place }: { readonly name: string; readonly place: Place }): ReactNode {
  const read = (): Promise<string> => readValue(place, name);
  const { value, isBusy, error, reveal, hide } = useRevealed(read);
  const [refused, setRefused] = useState<string>();
  const refusalOf = useRefusal();
  const fault = error ?? refused;
  return (
    <>
      <div className="value-box">
        {value === undefined ? <Mask /> : <pre className="value-block">{value}</pre>}
        <span className="tools">
          <CopyButton
            name="Copy the value"
            onCopy={() => {
              setRefused(undefined);
              return copyLater(read);
            }}
            onRefused={(cause) => setRefused(refusalOf(cause))}
          />
        </span>
      </div>
      {fault === undefined ? undefined : <Notice>{fault}</Notice>}
      <div className="drawer-buttons">
        <Button busy={isBusy} onClick={value === undefined ? reveal : hide}>
          {value === undefined ? 'Reveal for 30 seconds' : 'Hide'}
        </Button>
      </div>
    </>
  );
}

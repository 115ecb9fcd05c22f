import type { ReactNode } from 'react';
import { useDestroy } from '../../api/versions.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import type { Place } from '../../text/place.ts';

export interface DestroyFormProps {
  readonly name: string;
  readonly place: Place;
  readonly version: number;
  readonly onDone: (report: string) => void;
}

/** Asks before a value is erased, and again if other versions have it: the server wants a decision about them. */
export function DestroyForm({ name, place, version, onDone }: DestroyFormProps): ReactNode {
  const destroy = useDestroy(place, name);
  const run = (sameValue: boolean | undefined): void =>
    destroy.mutate(
      { version, sameValue },
      {
        onSuccess: ({ destroyedVersions }) =>
          onDone(`Destroyed: ${destroyedVersions.map((number) => `v${number}`).join(', ')}.`),
      },
    );
  const isShared = destroy.error?.code === 'value_in_other_versions';
  return (
    <div className="version-panel">
      <p>
        The value of v{version} is erased for good: no user can read it, roll back to it or restore it. Do this with a
        value that leaked, after you replaced it everywhere.
      </p>
      {destroy.error === null ? undefined : (
        <Notice>{isShared ? firstClause(destroy.error.message) : destroy.error.message}</Notice>
      )}
      <div className="drawer-buttons">
        {isShared ? (
          <>
            <Button look="danger" busy={destroy.isPending} onClick={() => run(true)}>
              Destroy it in all of them
            </Button>
            <Button look="danger" busy={destroy.isPending} onClick={() => run(false)}>
              Destroy v{version} only
            </Button>
          </>
        ) : (
          <Button look="danger" busy={destroy.isPending} onClick={() => run(undefined)}>
            Destroy the value of v{version}
          </Button>
        )}
      </div>
    </div>
  );
}

/** Which versions have the value. What follows in the sentence is about the field of the request. */
function firstClause(message: string): string {
  return `${message.split(';', 1)[0] ?? ''}.`;
}

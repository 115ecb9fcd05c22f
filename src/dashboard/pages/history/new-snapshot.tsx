import { type ComponentProps, type ReactNode, useId, useState } from 'react';
import { useCreateSnapshot } from '../../api/timeline.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { FormEnd } from '../../parts/form/form-end.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useFirstFocus } from '../../parts/form/use-first-focus.ts';
import { counted } from '../../text/counted.ts';
import type { Place } from '../../text/place.ts';

export interface NewSnapshotProps {
  readonly place: Place;
  readonly onClose: () => void;
  readonly onDone: (report: string) => void;
}

/** Takes a snapshot of the present state. */
export function NewSnapshot({ place, onClose, onDone }: NewSnapshotProps): ReactNode {
  const create = useCreateSnapshot(place);
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const id = useId();
  const first = useFirstFocus<HTMLInputElement>();
  const submit: ComponentProps<'form'>['onSubmit'] = (event) => {
    event.preventDefault();
    if (create.isPending) return;
    create.mutate(
      { name: name.trim(), description: description.trim() },
      {
        onSuccess: ({ secretCount, revision }) =>
          onDone(`The snapshot holds ${counted(secretCount, 'key')} at revision ${revision}.`),
      },
    );
  };
  return (
    <Drawer title="Take a snapshot" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p className="muted">It keeps the present state of all keys, whatever changes later.</p>
        <div className="field">
          <label htmlFor={`${id}-name`}>Name</label>
          <input
            ref={first}
            id={`${id}-name`}
            className="input"
            value={name}
            onChange={(event) => setName(event.target.value)}
            placeholder="before the release"
            autoComplete="off"
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-description`}>Description</label>
          <input
            id={`${id}-description`}
            className="input"
            value={description}
            onChange={(event) => setDescription(event.target.value)}
            maxLength={1000}
            autoComplete="off"
          />
        </div>
        {create.error === null ? undefined : <Notice>{create.error.message}</Notice>}
        <FormEnd onCancel={onClose} busy={create.isPending}>
          {create.isPending ? 'Working…' : 'Take the snapshot'}
        </FormEnd>
      </form>
    </Drawer>
  );
}

import { type ComponentProps, type ReactNode, useState } from 'react';
import { useCreateSnapshot } from '../../api/timeline.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { FormEnd } from '../../parts/form/form-end.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { useFirstFocus } from '../../parts/form/use-first-focus.ts';
import { Refusal } from '../../parts/refusal.tsx';
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
        <TextField label="Name" value={name} onChange={setName} fieldRef={first} placeholder="before the release" />
        <TextField label="Description" value={description} onChange={setDescription} maxLength={1000} />
        <Refusal error={create.error} />
        <FormEnd onCancel={onClose} busy={create.isPending}>
          {create.isPending ? 'Working…' : 'Take the snapshot'}
        </FormEnd>
      </form>
    </Drawer>
  );
}

import { type ComponentProps, type ReactNode, useState } from 'react';
import { validateSecretKey, validateSecretValue } from '../../../wire/secret-rules.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { FormEnd } from '../../parts/form/form-end.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { useFirstFocus } from '../../parts/form/use-first-focus.ts';
import { setInDraft } from '../../text/draft.ts';
import type { HeldKeys } from './held-keys.ts';
import type { Unfinished } from './use-unfinished.ts';
import { ValueField } from './value-field.tsx';

export interface NewKeyProps extends Unfinished<{ readonly key: string; readonly value: string }> {
  readonly held: HeldKeys;
}

/** Adds a key to the draft. */
export function NewKey({ held, typed, onType, onClose, onDone }: NewKeyProps): ReactNode {
  const { key, value } = typed;
  const [fault, setFault] = useState<string>();
  const first = useFirstFocus<HTMLInputElement>();
  const submit: ComponentProps<'form'>['onSubmit'] = (event) => {
    event.preventDefault();
    const found = faultOf(key, held);
    setFault(found);
    if (found !== undefined || validateSecretValue(value) !== undefined) return;
    held.change((draft) => setInDraft(draft, held.versions, new Map([[key, value]])));
    onDone();
  };
  return (
    <Drawer title="New key" onClose={onClose}>
      <form className="form" onSubmit={submit} noValidate>
        <TextField
          label="Name"
          value={key}
          onChange={(text) => {
            onType({ key: text, value });
            setFault(undefined);
          }}
          fieldRef={first}
          placeholder="DATABASE_URL"
          isExact
          isMono
          fault={fault ?? null}
        />
        <ValueField label="Value" value={value} onChange={(text) => onType({ key, value: text })} />
        <FormEnd onCancel={onDone}>Add to the draft</FormEnd>
      </form>
    </Drawer>
  );
}

function faultOf(key: string, { versions, draft }: HeldKeys): string | undefined {
  if (key === '') return 'Name the key.';
  const fault = validateSecretKey(key);
  if (fault !== undefined) return `The name ${fault}.`;
  if (versions.has(key) || draft.get(key)?.kind === 'set') return 'This key exists. Close this, and edit it there.';
  return undefined;
}

import { type ReactNode, useId, useRef, useState } from 'react';
import type { Role, RolePlace } from '../../api/roles.ts';
import { Button } from '../../parts/button.tsx';
import { ChoiceField } from '../../parts/form/choice-field.tsx';
import { NeedsRecentSignIn } from '../../parts/needs-recent-sign-in.tsx';
import { isHigherRole, rolesToGive } from '../../text/role-place.ts';

export interface ChangeRoleProps {
  /** Whose role it is. */
  readonly name: string;
  readonly place: Pick<RolePlace, 'project'>;
  readonly role: Role;
  readonly isOwner: boolean;
  readonly busy: boolean;
  readonly onChange: (role: Role) => void;
}

/** A button, and the dialog that asks for another role. */
export function ChangeRole({ name, place, role, isOwner, busy, onChange }: ChangeRoleProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [chosen, setChosen] = useState<string>(role);
  const title = useId();
  return (
    <>
      <Button
        busy={busy}
        aria-label={`Change the role of ${name}`}
        onClick={() => {
          setChosen(role);
          dialog.current?.showModal();
        }}
      >
        Change
      </Button>
      <dialog ref={dialog} className="dialog" aria-labelledby={title}>
        <h2 id={title}>Change the role of {name}</h2>
        <p>
          {place.project === null
            ? 'It counts in the whole organization from the next request on. For one place, give another role there.'
            : 'It counts from the next request on.'}
        </p>
        <div className="dialog-field">
          <ChoiceField label="Role" value={chosen} options={rolesToGive(place, isOwner)} onChange={setChosen} />
        </div>
        {isHigherRole(chosen, role) ? <NeedsRecentSignIn>To give a higher role</NeedsRecentSignIn> : undefined}
        <div className="dialog-buttons">
          <Button onClick={() => dialog.current?.close()}>Cancel</Button>
          <Button
            look="primary"
            onClick={() => {
              dialog.current?.close();
              if (chosen !== role) onChange(chosen as Role);
            }}
          >
            Save
          </Button>
        </div>
      </dialog>
    </>
  );
}

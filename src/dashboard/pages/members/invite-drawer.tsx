import { type ComponentProps, type ReactNode, useId, useState } from 'react';
import { type ProjectPlaces, usePlaces } from '../../api/places.ts';
import { type Role, type RoleChange, type RolePlace, useRoleChange } from '../../api/roles.ts';
import { Button } from '../../parts/button.tsx';
import { ChoiceField } from '../../parts/form/choice-field.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { FieldFault } from '../../parts/form/field-fault.tsx';
import { FormEnd } from '../../parts/form/form-end.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { useFirstFocus } from '../../parts/form/use-first-focus.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { NeedsRecentSignIn } from '../../parts/needs-recent-sign-in.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { useShownOnce } from '../../parts/shown-once.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import type { HeldRole } from '../../text/admin-of.ts';
import { rolePlaceText, rolesToGive } from '../../text/role-place.ts';

export interface InviteDrawerProps {
  readonly organization: string;
  readonly held: HeldRole;
  readonly onClose: () => void;
}

/** Gives a user or a group a role. A person who is no user yet gets a link, which is shown once. */
export function InviteDrawer({ organization, held, onClose }: InviteDrawerProps): ReactNode {
  const places = usePlaces(organization);
  const give = useRoleChange(organization, { mayInvite: held.isAdmin });
  const link = useShownOnce('link', onClose);
  const [done, setDone] = useState('');
  const submit = (change: RoleChange, name: string): void =>
    give.mutate(change, {
      onSuccess: ({ isInvitation, link: shown }) => {
        setDone(reportOf(name, { isInvitation, isLink: shown !== undefined }));
        if (shown !== undefined) link.show(shown);
        give.reset();
      },
    });
  return (
    <Drawer title="Invite or give a role" onClose={link.close}>
      {done === '' ? (
        <>
          <NeedsRecentSignIn>To give a role</NeedsRecentSignIn>
          <Refusal error={give.error} />
          <Loaded query={places} waiting={<Skeleton name="Loading the places" rows={3} look="tall" />}>
            {(projects) => (
              <RoleForm
                places={placesOf(projects).filter(held.administers)}
                isOwner={held.isOwner}
                busy={give.isPending}
                onCancel={onClose}
                onGive={submit}
              />
            )}
          </Loaded>
        </>
      ) : (
        <>
          <Notice kind="done">{done}</Notice>
          {link.box}
          <div className="form-end">
            <Button look="primary" onClick={link.close}>
              Done
            </Button>
          </div>
        </>
      )}
    </Drawer>
  );
}

function reportOf(name: string, { isInvitation, isLink }: { isInvitation: boolean; isLink: boolean }): string {
  if (isLink) return `Send the link to ${name} in a way that you trust. It works once, for 72 hours.`;
  return isInvitation ? `${name} is invited, and has the role after accepting it.` : `${name} has the role.`;
}

function placesOf(places: readonly ProjectPlaces[]): readonly RolePlace[] {
  return [
    { project: null, environment: null },
    ...places.flatMap(({ project, environments }) => [
      { project: project.slug, environment: null },
      ...environments.map(({ slug }) => ({ project: project.slug, environment: slug })),
    ]),
  ];
}

interface RoleFormProps {
  readonly places: readonly RolePlace[];
  readonly isOwner: boolean;
  readonly busy: boolean;
  readonly onCancel: () => void;
  readonly onGive: (change: RoleChange, name: string) => void;
}

function RoleForm({ places, isOwner, busy, onCancel, onGive }: RoleFormProps): ReactNode {
  const [kind, setKind] = useState('user');
  const [name, setName] = useState('');
  const [placeText, setPlaceText] = useState<string>();
  const [role, setRole] = useState('viewer');
  const [fault, setFault] = useState('');
  const id = useId();
  const first = useFirstFocus<HTMLInputElement>();
  const place = places.find((candidate) => rolePlaceText(candidate) === placeText) ?? places[0];
  const isGroup = kind === 'group';
  const roles = rolesToGive(place ?? { project: null }, isOwner && !isGroup);
  const submit: ComponentProps<'form'>['onSubmit'] = (event) => {
    event.preventDefault();
    const given = name.trim();
    const found = isGroup
      ? given === '' && 'Name the group as your identity provider does.'
      : !/^\S+@\S+$/.test(given) && 'Enter an e-mail address.';
    setFault(found === false ? '' : found);
    if (found !== false || place === undefined || busy) return;
    const chosen = roles.some(([value]) => value === role) ? role : 'viewer';
    onGive({ ...place, subject: isGroup ? `group:${given}` : given, role: chosen as Role }, given);
  };
  return (
    <form className="form" onSubmit={submit} noValidate>
      <ChoiceField
        label="For"
        value={kind}
        options={[
          ['user', 'A person'],
          ['group', 'A group of the identity provider'],
        ]}
        onChange={setKind}
      />
      <TextField
        label={isGroup ? 'Group' : 'E-mail address'}
        value={name}
        onChange={setName}
        fieldRef={first}
        isExact
        aria-describedby={id}
      />
      <ChoiceField
        label="Place"
        value={place === undefined ? '' : rolePlaceText(place)}
        options={places.map((candidate) => [rolePlaceText(candidate), rolePlaceText(candidate)] as const)}
        onChange={setPlaceText}
      />
      <ChoiceField label="Role" value={role} options={roles} onChange={setRole} />
      <FieldFault id={id}>{fault}</FieldFault>
      <FormEnd onCancel={onCancel} busy={busy}>
        Give the role
      </FormEnd>
    </form>
  );
}

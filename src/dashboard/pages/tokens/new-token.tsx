import { type ComponentProps, type ReactNode, useId, useState } from 'react';
import { Link } from 'react-router';
import type { ProjectPlaces } from '../../api/places.ts';
import { type NewToken, type TokenHome, useCreateToken } from '../../api/service-tokens.ts';
import { Button } from '../../parts/button.tsx';
import { ChoiceField } from '../../parts/form/choice-field.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { FieldFault } from '../../parts/form/field-fault.tsx';
import { FormEnd } from '../../parts/form/form-end.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { useFirstFocus } from '../../parts/form/use-first-focus.ts';
import { NeedsRecentSignIn } from '../../parts/needs-recent-sign-in.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { useShownOnce } from '../../parts/shown-once.tsx';
import type { AdminOf } from '../../text/admin-of.ts';

export interface NewTokenDrawerProps {
  readonly organization: string;
  readonly rights: AdminOf;
  readonly places: readonly ProjectPlaces[];
  readonly onClose: () => void;
}

/** A session creates no token that is valid for longer. */
const lifetimes = [
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['', 'As late as your sign-in allows, 90 days at most'],
] as const;

/** Creates a token, and shows its value once. */
export function NewTokenDrawer({ organization, rights, places, onClose }: NewTokenDrawerProps): ReactNode {
  const create = useCreateToken(organization);
  const value = useShownOnce('token', onClose);
  const [lost, setLost] = useState<string>();
  return (
    <Drawer title="New service token" onClose={value.close}>
      {lost !== undefined ? (
        <LostValue id={lost} />
      ) : value.isShown ? (
        <>
          <Notice kind="info">The token exists.</Notice>
          {value.box}
          <div className="form-end">
            <Button look="primary" onClick={value.close}>
              Done
            </Button>
          </div>
        </>
      ) : (
        <>
          <NeedsRecentSignIn>To create a token</NeedsRecentSignIn>
          <Refusal error={create.error} />
          <NewTokenForm
            places={placesFor(organization, rights, places)}
            busy={create.isPending}
            onCancel={onClose}
            onCreate={(token) =>
              create.mutate(token, {
                onSuccess: ({ id, token: shown }) => {
                  if (shown === undefined) setLost(id);
                  else value.show(shown);
                  create.reset();
                },
              })
            }
          />
        </>
      )}
    </Drawer>
  );
}

/** The first response, which had the value, did not arrive. */
function LostValue({ id }: { readonly id: string }): ReactNode {
  return (
    <>
      <Notice>
        An earlier click created the token, but the response was lost. Its value cannot be shown again. Rotate the token
        to get another value, or revoke it.
      </Notice>
      <p>
        <Link to={`?token=${id}`}>Open the token</Link>
      </p>
    </>
  );
}

/** Where a token may act. */
interface TokenPlace extends Pick<NewToken, 'home' | 'scope' | 'projectId' | 'environmentId'> {
  readonly text: string;
}

/** The places for which a user may create tokens. */
function placesFor(organization: string, rights: AdminOf, places: readonly ProjectPlaces[]): readonly TokenPlace[] {
  const { isAdmin, projects } = rights;
  const homeOf = (project: string): TokenHome => (isAdmin ? { org: organization } : { org: organization, project });
  const within = places
    .filter(({ project }) => isAdmin || projects.includes(project.slug))
    .flatMap<TokenPlace>(({ project, environments }) => {
      const home = homeOf(project.slug);
      return [
        { home, scope: 'project', projectId: project.id, text: `${project.slug}, with all its environments` },
        ...environments.map<TokenPlace>(({ id, slug }) => ({
          home,
          scope: 'environment',
          environmentId: id,
          text: `${project.slug} / ${slug}`,
        })),
      ];
    });
  return isAdmin ? [...within, { home: homeOf(''), scope: 'organization', text: 'The whole organization' }] : within;
}

interface NewTokenFormProps {
  readonly places: readonly TokenPlace[];
  readonly busy: boolean;
  readonly onCancel: () => void;
  readonly onCreate: (token: NewToken) => void;
}

function NewTokenForm({ places, busy, onCancel, onCreate }: NewTokenFormProps): ReactNode {
  const [name, setName] = useState('');
  const [placeText, setPlaceText] = useState('');
  const [permission, setPermission] = useState('read');
  const [days, setDays] = useState<string>('');
  const [fault, setFault] = useState<string>();
  const id = useId();
  const first = useFirstFocus<HTMLInputElement>();
  const submit: ComponentProps<'form'>['onSubmit'] = (event) => {
    event.preventDefault();
    const place = places.find(({ text }) => text === placeText);
    const found = name.trim() === '' ? 'Name the token.' : undefined;
    setFault(found ?? (place === undefined ? 'Choose where it may act.' : undefined));
    if (found !== undefined || place === undefined || busy) return;
    const { text: _, ...where } = place;
    onCreate({
      ...where,
      name: name.trim(),
      permission: permission === 'read_write' ? 'read_write' : 'read',
      ...(days === '' ? {} : { expiresInDays: Number(days) }),
    });
  };
  return (
    <form className="form" onSubmit={submit} noValidate>
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        fieldRef={first}
        placeholder="Such as ci or deploy"
        maxLength={200}
        aria-describedby={id}
      />
      <ChoiceField
        label="Place"
        value={placeText}
        options={[['', 'Choose a place'], ...places.map(({ text }) => [text, text] as const)]}
        onChange={setPlaceText}
        help="It can be used for nothing else. Choose the smallest place that does."
      />
      <ChoiceField
        label="Permission"
        value={permission}
        options={[
          ['read', 'Read secrets'],
          ['read_write', 'Read and write secrets'],
        ]}
        onChange={setPermission}
      />
      <ChoiceField label="Expires" value={days} options={lifetimes} onChange={setDays} />
      <FieldFault id={id}>{fault}</FieldFault>
      <FormEnd onCancel={onCancel} busy={busy}>
        Create token
      </FormEnd>
    </form>
  );
}

import { type ComponentProps, type ReactNode, useId, useState } from 'react';
import type { ProjectPlaces } from '../../api/places.ts';
import type { NewToken, TokenHome } from '../../api/service-tokens.ts';
import { ChoiceField } from '../../parts/form/choice-field.tsx';
import { FieldFault } from '../../parts/form/field-fault.tsx';
import { FormEnd } from '../../parts/form/form-end.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { useFirstFocus } from '../../parts/form/use-first-focus.ts';
import type { AdminOf } from '../../text/admin-of.ts';
import type { InvalidField } from '../../text/invalid-fields.ts';
import { FederationFields } from './federation-fields.tsx';
import { useFederationDraft } from './use-federation-draft.ts';

/** A session creates no token that is valid for longer. */
const lifetimes = [
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['', 'As late as your sign-in allows, 90 days at most'],
] as const;

export interface NewTokenFormProps {
  readonly organization: string;
  readonly rights: AdminOf;
  readonly places: readonly ProjectPlaces[];
  /** What the server refused. */
  readonly invalid: readonly InvalidField[];
  readonly busy: boolean;
  readonly onCancel: () => void;
  readonly onCreate: (token: NewToken) => void;
}

/** What a new token may do, and what proves it. */
export function NewTokenForm(props: NewTokenFormProps): ReactNode {
  const { organization, rights, busy, onCancel, onCreate } = props;
  const places = placesFor(organization, rights, props.places);
  const [name, setName] = useState('');
  const [placeText, setPlaceText] = useState('');
  const [permission, setPermission] = useState('read');
  const [days, setDays] = useState<string>('');
  const federation = useFederationDraft(organization);
  const [fault, setFault] = useState<string>();
  const id = useId();
  const first = useFirstFocus<HTMLInputElement>();
  const submit: ComponentProps<'form'>['onSubmit'] = (event) => {
    event.preventDefault();
    const place = places.find(({ text }) => text === placeText);
    const found =
      (name.trim() === '' ? 'Name the token.' : undefined) ??
      (place === undefined ? 'Choose where it may act.' : undefined) ??
      federation.check();
    setFault(found);
    if (found !== undefined || place === undefined || busy) return;
    const { text: _, ...where } = place;
    onCreate({
      ...where,
      name: name.trim(),
      permission: permission === 'read_write' ? 'read_write' : 'read',
      ...(days === '' ? {} : { expiresInDays: Number(days) }),
      ...federation.input,
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
      {/* Only admins of the organization see its issuers. */}
      {rights.isAdmin ? <FederationFields {...federation} invalid={[...federation.missing, ...props.invalid]} /> : null}
      <FieldFault id={id}>{fault}</FieldFault>
      <FormEnd onCancel={onCancel} busy={busy}>
        Create token
      </FormEnd>
    </form>
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

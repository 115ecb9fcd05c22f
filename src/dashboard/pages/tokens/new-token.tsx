import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import type { ServiceTokenView } from '../../../wire/service-tokens.ts';
import type { ApiError } from '../../api/client.ts';
import type { ProjectPlaces } from '../../api/places.ts';
import { useCreateToken } from '../../api/service-tokens.ts';
import { Button } from '../../parts/button.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { useFirstFocus } from '../../parts/form/use-first-focus.ts';
import { NeedsRecentSignIn } from '../../parts/needs-recent-sign-in.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { useShownOnce } from '../../parts/shown-once.tsx';
import type { AdminOf } from '../../text/admin-of.ts';
import { Federation } from './federation.tsx';
import { NewTokenForm } from './new-token-form.tsx';

export interface NewTokenDrawerProps {
  readonly organization: string;
  readonly rights: AdminOf;
  readonly places: readonly ProjectPlaces[];
  readonly onClose: () => void;
}

/** Creates a token, and shows its value once, or what proves it. */
export function NewTokenDrawer({ organization, rights, places, onClose }: NewTokenDrawerProps): ReactNode {
  const create = useCreateToken(organization);
  const value = useShownOnce('token', onClose);
  const [withoutValue, setWithoutValue] = useState<ServiceTokenView>();
  return (
    <Drawer title="New service token" onClose={value.close}>
      {withoutValue !== undefined ? (
        withoutValue.federation === undefined ? (
          <LostValue id={withoutValue.id} />
        ) : (
          <Federated organization={organization} token={withoutValue} onClose={onClose} />
        )
      ) : value.isShown ? (
        <>
          <Notice kind="info">The token exists.</Notice>
          {value.box}
          <Done onClick={value.close} />
        </>
      ) : (
        <>
          <NeedsRecentSignIn>To create a token</NeedsRecentSignIn>
          <CreationRefusal error={create.error} />
          <NewTokenForm
            organization={organization}
            rights={rights}
            places={places}
            invalid={create.error?.fields ?? []}
            busy={create.isPending}
            onCancel={onClose}
            onCreate={(token) =>
              create.mutate(token, {
                onSuccess: (created) => {
                  if ('token' in created) value.show(created.token);
                  else setWithoutValue(created);
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

/** Why no token was created. What proves it has its faults at its fields. */
function CreationRefusal({ error }: { readonly error: ApiError | null }): ReactNode {
  const fields = error?.fields ?? [];
  const isMarked = fields.length > 0 && fields.every(({ field }) => field.startsWith('federation.'));
  return isMarked ? <Notice>Correct the fields that are marked.</Notice> : <Refusal error={error} />;
}

function Done({ onClick }: { readonly onClick: () => void }): ReactNode {
  return (
    <div className="form-end">
      <Button look="primary" onClick={onClick}>
        Done
      </Button>
    </div>
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

interface FederatedProps {
  readonly organization: string;
  readonly token: ServiceTokenView;
  readonly onClose: () => void;
}

/** Has nothing secret: the list shows all of it again. */
function Federated({ organization, token, onClose }: FederatedProps): ReactNode {
  const first = useFirstFocus<HTMLDivElement>();
  return (
    <>
      <div ref={first} className="shown-once" tabIndex={-1}>
        <Notice kind="done">The token {token.name} exists. It has no value: JWTs prove it.</Notice>
      </div>
      <Federation organization={organization} token={token} isAdmin />
      <Done onClick={onClose} />
    </>
  );
}

import { type ReactNode, useMemo } from 'react';
import { useParams } from 'react-router';
import { useMe } from '../../api/me.ts';
import { useOrganization } from '../../api/organizations.ts';
import { type ProjectPlaces, usePlaces } from '../../api/places.ts';
import { type ListedToken, tokenHomes, useServiceTokens } from '../../api/service-tokens.ts';
import { Button } from '../../parts/button.tsx';
import { Choices } from '../../parts/choices.tsx';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { type Filters, useFilters } from '../../parts/use-filters.ts';
import { useNow } from '../../parts/use-now.ts';
import { adminOf } from '../../text/admin-of.ts';
import {
  isChosen,
  placeNames,
  scopeText,
  shownState,
  type StateChoice,
  stateChoices,
} from '../../text/service-token.ts';
import { NewTokenDrawer } from './new-token.tsx';
import { TokenDrawer } from './token-drawer.tsx';
import { useTokenSearch } from './token-search.tsx';
import { type NamedToken, TokenTable } from './token-table.tsx';

/** The service tokens of an organization: what each may do, whether it is used, and its end. */
export function TokensPage(): ReactNode {
  const { organization = '' } = useParams();
  const { data: user } = useMe();
  const rights = adminOf(organization, user ?? { organizations: [] });
  const homes = tokenHomes(organization, rights);
  const tokens = useServiceTokens(organization, homes);
  const places = usePlaces(organization);
  const filters = useFilters();
  const isRefused = user !== undefined && homes.length === 0;
  return (
    <Page
      title="Service tokens"
      intro="Machines read and write secrets with these. A token acts for no person, and stays when a person leaves."
      wide
      actions={
        homes.length === 0 ? undefined : (
          <Button look="primary" onClick={() => filters.set({ new: '1' })}>
            New token
          </Button>
        )
      }
    >
      {isRefused ? (
        <Empty title="Only admins see service tokens">
          <p>Ask an admin of {organization} or of a project for a token, or for the role.</p>
        </Empty>
      ) : (
        <Loaded query={tokens} waiting={<Waiting />}>
          {(list) => (
            <Tokens
              organization={organization}
              mayAudit={rights.isAdmin}
              list={list}
              places={places.data}
              filters={filters}
            />
          )}
        </Loaded>
      )}
      {filters.get('new') === '' || homes.length === 0 ? undefined : (
        <NewTokenDrawer
          organization={organization}
          rights={rights}
          places={places.data ?? []}
          onClose={() => filters.set({ new: '' })}
        />
      )}
    </Page>
  );
}

function Waiting(): ReactNode {
  return (
    <>
      <div className="toolbar toolbar-waiting" />
      <Skeleton name="Loading the tokens" rows={6} look="tall" />
    </>
  );
}

interface TokensProps {
  readonly organization: string;
  readonly mayAudit: boolean;
  readonly list: readonly ListedToken[];
  /** Undefined while they load. */
  readonly places: readonly ProjectPlaces[] | undefined;
  readonly filters: Filters;
}

const choiceTexts: Readonly<Record<StateChoice, string>> = {
  live: 'In use',
  waiting: 'Needs a person',
  expired: 'Expired',
  revoked: 'Revoked',
  all: 'All',
};

function Tokens({ organization, mayAudit, list, places, filters }: TokensProps): ReactNode {
  const names = useMemo(() => (places === undefined ? undefined : placeNames(places)), [places]);
  const now = useNow();
  const isChanged = list.some(({ federation }) => federation?.isAccepted === false);
  // Until it is known, the more urgent of both.
  const mustAccept = useOrganization(organization, { enabled: isChanged }).data?.impersonationForbidden ?? true;
  const all: readonly NamedToken[] = list.map((token) => ({
    token,
    state: shownState(token, new Date(now), mustAccept),
    place: scopeText(token, names),
  }));
  const text = filters.get('q');
  const matching = all.filter((entry) => matches(entry, text.trim().toLowerCase()));
  const chosen = stateChoices.find((choice) => choice === filters.get('state')) ?? 'live';
  const shown = matching.filter(({ state }) => isChosen(state, chosen));
  const offered = stateChoices.filter(
    (choice) => choice !== 'waiting' || choice === chosen || all.some(({ state }) => isChosen(state, choice)),
  );
  const open = all.find(({ token }) => token.id === filters.get('token'));
  const search = useTokenSearch(list, filters);
  if (list.length === 0) return <NoTokens organization={organization} />;
  return (
    <>
      <div className="toolbar">
        {search.field}
        <Choices
          name="State"
          chosen={chosen}
          choices={offered.map((value) => ({
            value,
            text: choiceTexts[value],
            count: matching.filter(({ state }) => isChosen(state, value)).length,
          }))}
          onChoose={(state) => filters.set({ state: state === 'live' ? '' : state })}
        />
      </div>
      {search.report}
      {shown.length === 0 ? (
        <Empty title={text.trim() === '' ? 'No token is in this state' : 'No token matches'} />
      ) : (
        <TokenTable tokens={shown} linkTo={(id) => filters.with({ token: id })} />
      )}
      {open === undefined ? undefined : (
        <TokenDrawer
          key={open.token.id}
          organization={organization}
          mayAudit={mayAudit}
          {...open}
          names={names}
          mustAccept={mustAccept}
          onClose={() => filters.set({ token: '' })}
        />
      )}
    </>
  );
}

/** A token by its name, its place, its namespace, its issuer, its audience, which has its id, or its creator. */
function matches({ token, place }: NamedToken, text: string): boolean {
  const { name, holder, federation, createdByName, id } = token;
  const proof = federation === undefined ? [] : [federation.issuer, federation.audience];
  const words = [name, place, holder?.namespace ?? '', createdByName, id, ...proof];
  return words.some((word) => word.toLowerCase().includes(text));
}

function NoTokens({ organization }: { readonly organization: string }): ReactNode {
  return (
    <Empty title="There is no service token yet">
      <p>SecretSyncs need none: each namespace gets a token without a value. CI and other machines need one.</p>
      <CopyCommand name="create a service token">
        {`keyframe token create-service -o ${organization} -n ci -s organization -p read --expires-in 90`}
      </CopyCommand>
    </Empty>
  );
}

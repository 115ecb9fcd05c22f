import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useParams } from 'react-router';
import type { RoleBindingView } from '../../../wire/role-bindings.ts';
import type { ApiError } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { useMembers } from '../../api/members.ts';
import { type RoleChange, useOrganizationInvitations, useRoleChange, useRoles } from '../../api/roles.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FilterField } from '../../parts/form/filter-field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { Portion } from '../../parts/portion.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useFilters } from '../../parts/use-filters.ts';
import { heldIn, type HeldRole } from '../../text/admin-of.ts';
import { wholeOrganization } from '../../text/role-place.ts';
import { BindingList, NoRoles } from './binding-list.tsx';
import { InvitationList } from './invitation-list.tsx';
import { InviteDrawer } from './invite-drawer.tsx';
import { MemberList, type RoleRights } from './member-list.tsx';

/** Who has which role in an organization and within it, and which roles wait for consent. */
export function MembersPage(): ReactNode {
  const { organization = '' } = useParams();
  const { data: user } = useMe();
  const filters = useFilters();
  const held = heldIn(organization, user ?? { organizations: [] });
  const isRefused = user !== undefined && !held.isMember && held.places.length === 0;
  return (
    <Page
      title="Members"
      intro="A role counts at its place and everywhere within it. The highest role counts."
      wide
      actions={held.givesRoles ? <GiveRole onOpen={() => filters.set({ invite: '1' })} /> : undefined}
    >
      {isRefused ? (
        <Empty title="You may not see the members">
          <p>That needs a role in {organization}.</p>
        </Empty>
      ) : (
        <Lists organization={organization} userId={user?.id} held={held} />
      )}
      {held.givesRoles && filters.get('invite') !== '' ? (
        <InviteDrawer organization={organization} held={held} onClose={() => filters.set({ invite: '' })} />
      ) : undefined}
    </Page>
  );
}

function GiveRole({ onOpen }: { readonly onOpen: () => void }): ReactNode {
  return (
    <Button look="primary" onClick={onOpen}>
      Invite or give a role
    </Button>
  );
}

/** Shorter lists can be read at a glance. */
const minToFilter = 20;

function countOf(...lists: readonly (readonly unknown[] | undefined)[]): number {
  return lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);
}

function matches(filter: string, ...names: readonly (string | null | undefined)[]): boolean {
  const text = filter.trim().toLowerCase();
  return names.some((name) => name?.toLowerCase().includes(text) === true);
}

interface ListsProps {
  readonly organization: string;
  /** Undefined while the user loads. */
  readonly userId: string | undefined;
  readonly held: HeldRole;
}

function Lists({ organization, userId, held }: ListsProps): ReactNode {
  const { isMember, isAdmin, isOwner } = held;
  const members = useMembers(organization, { enabled: isMember });
  const roles = useRoles(organization, isMember ? [wholeOrganization] : held.places);
  const change = useRoleChange(organization, { mayInvite: isAdmin });
  const [done, setDone] = useState('');
  const [filter, setFilter] = useState('');
  const run = (wanted: RoleChange, report: string): void => {
    setDone('');
    change.mutate(wanted, { onSuccess: () => setDone(report) });
  };
  const isLong = countOf(members.data, roles.data) > minToFilter;
  const rights = { isAdmin, isOwner, busy: change.isPending, onChange: run };
  return (
    <>
      <Refusal error={change.error} />
      {done === '' ? undefined : <Notice kind="done">{done}</Notice>}
      {filter !== '' || isLong ? (
        <div className="toolbar">
          <FilterField name="Filter by name" value="" onChange={setFilter} />
        </div>
      ) : undefined}
      {isMember ? (
        <section className="section">
          <h2>In the organization</h2>
          <Loaded query={members} waiting={<Skeleton name="Loading the members" rows={3} look="tall" />}>
            {(list) => (
              <Portion entries={list.filter((member) => matches(filter, member.email, member.displayName))}>
                {(shown) => <MemberList members={shown} roles={roles.data ?? []} userId={userId} {...rights} />}
              </Portion>
            )}
          </Loaded>
        </section>
      ) : undefined}
      <Roles organization={organization} roles={roles} held={held} filter={filter} rights={rights} />
      {isAdmin ? <Invitations organization={organization} /> : undefined}
    </>
  );
}

interface RolesProps {
  readonly organization: string;
  readonly roles: UseQueryResult<readonly RoleBindingView[], ApiError>;
  readonly held: HeldRole;
  readonly filter: string;
  readonly rights: RoleRights;
}

function Roles({ organization, roles, held, filter, rights }: RolesProps): ReactNode {
  return (
    <section className="section">
      <h2>{held.isMember ? 'In projects and environments, and of groups' : 'In the places where you have a role'}</h2>
      <p className="muted">
        Groups are those of your identity provider. A user is in them as of the last sign-in there.
      </p>
      <Loaded query={roles} waiting={<Skeleton name="Loading the roles" rows={2} look="tall" />}>
        {(list) =>
          list.length === 0 ? (
            <NoRoles organization={organization} />
          ) : (
            <Portion entries={list.filter(({ user, group }) => matches(filter, user?.email, group))}>
              {(shown) => <BindingList roles={shown} {...rights} mayChange={held.administers} />}
            </Portion>
          )
        }
      </Loaded>
    </section>
  );
}

function Invitations({ organization }: Pick<RolesProps, 'organization'>): ReactNode {
  const invitations = useOrganizationInvitations(organization);
  return (
    <section className="section">
      <h2>Waiting for consent</h2>
      <Loaded query={invitations} waiting={<Skeleton name="Loading the invitations" rows={1} look="tall" />}>
        {(list) => <InvitationList organization={organization} invitations={list} />}
      </Loaded>
    </section>
  );
}

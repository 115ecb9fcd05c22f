import { type ReactNode, useState } from 'react';
import { useParams } from 'react-router';
import { useMe } from '../api/me.ts';
import { useMembers } from '../api/members.ts';
import { type RoleChange, useOrganizationInvitations, useRoleChange, useRoles } from '../api/roles.ts';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Notice } from '../parts/notice.tsx';
import { Page } from '../parts/page.tsx';
import { Refusal } from '../parts/refusal.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { useFilters } from '../parts/use-filters.ts';
import { heldIn, type HeldRole } from '../text/admin-of.ts';
import { wholeOrganization } from '../text/role-place.ts';
import { BindingList } from './members/binding-list.tsx';
import { InvitationList } from './members/invitation-list.tsx';
import { InviteDrawer } from './members/invite-drawer.tsx';
import { MemberList } from './members/member-list.tsx';

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

interface ListsProps {
  readonly organization: string;
  /** Undefined while the user loads. */
  readonly userId: string | undefined;
  readonly held: HeldRole;
}

function Lists({ organization, userId, held }: ListsProps): ReactNode {
  const { isMember, isAdmin, isOwner, administers } = held;
  const members = useMembers(organization, { enabled: isMember });
  const roles = useRoles(organization, isMember ? [wholeOrganization] : held.places);
  const invitations = useOrganizationInvitations(organization, { enabled: isAdmin });
  const change = useRoleChange(organization, { mayInvite: isAdmin });
  const [done, setDone] = useState('');
  const run = (wanted: RoleChange, report: string): void => {
    setDone('');
    change.mutate(wanted, { onSuccess: () => setDone(report) });
  };
  const rights = { isAdmin, isOwner, busy: change.isPending, onChange: run };
  return (
    <>
      {change.error === null ? undefined : <Refusal error={change.error} />}
      {done === '' ? undefined : <Notice kind="done">{done}</Notice>}
      {isMember ? (
        <section className="section">
          <h2>In the organization</h2>
          <Loaded query={members} waiting={<Skeleton name="Loading the members" rows={3} look="tall" />}>
            {(list) => <MemberList members={list} roles={roles.data ?? []} userId={userId} {...rights} />}
          </Loaded>
        </section>
      ) : undefined}
      <section className="section">
        <h2>{isMember ? 'In projects and environments, and of groups' : 'In the places where you have a role'}</h2>
        <p className="muted">
          Groups are those of your identity provider. A user is in them as of the last sign-in there.
        </p>
        <Loaded query={roles} waiting={<Skeleton name="Loading the roles" rows={2} look="tall" />}>
          {(list) => <BindingList organization={organization} roles={list} {...rights} mayChange={administers} />}
        </Loaded>
      </section>
      {isAdmin ? (
        <section className="section">
          <h2>Waiting for consent</h2>
          <Loaded query={invitations} waiting={<Skeleton name="Loading the invitations" rows={1} look="tall" />}>
            {(list) => <InvitationList organization={organization} invitations={list} />}
          </Loaded>
        </section>
      ) : undefined}
    </>
  );
}

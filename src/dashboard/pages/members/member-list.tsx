import type { ReactNode } from 'react';
import type { MemberView } from '../../../wire/members.ts';
import type { RoleBindingView } from '../../../wire/role-bindings.ts';
import type { RoleChange } from '../../api/roles.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { Moment } from '../../parts/moment.tsx';
import { rolePlaceText } from '../../text/role-place.ts';
import { ChangeRole } from './change-role.tsx';

/** What the user may change, and how. */
export interface RoleRights {
  readonly isAdmin: boolean;
  readonly isOwner: boolean;
  readonly busy: boolean;
  /** With the sentence that reports it. */
  readonly onChange: (change: RoleChange, report: string) => void;
}

export interface MemberListProps extends RoleRights {
  readonly members: readonly MemberView[];
  readonly roles: readonly RoleBindingView[];
  /** Of the signed-in user. */
  readonly userId: string | undefined;
}

const whole = { project: null, environment: null } as const;

/** The members, each with the role and the further roles within the organization. */
export function MemberList({ members, roles, userId, ...rights }: MemberListProps): ReactNode {
  return (
    <ul className="rows" aria-label="Members">
      {members.map((member) => (
        <li key={member.userId} className="row">
          <div className="row-text">
            <p className="row-title">
              <span>{member.displayName ?? member.email}</span>
              <span className="badge">{member.role}</span>
              {member.userId === userId ? <span className="muted">You</span> : undefined}
            </p>
            <p className="row-facts">
              {member.displayName === null ? undefined : <span>{member.email}</span>}
              <span>
                Member since <Moment at={member.createdAt} />
              </span>
              {roles
                .filter(({ user }) => user?.id === member.userId)
                .map((binding) => (
                  <span key={rolePlaceText(binding)}>
                    {binding.role} in {rolePlaceText(binding)}
                  </span>
                ))}
            </p>
          </div>
          <MemberButtons member={member} isSelf={member.userId === userId} {...rights} />
        </li>
      ))}
    </ul>
  );
}

interface MemberButtonsProps extends RoleRights {
  readonly member: MemberView;
  readonly isSelf: boolean;
}

function MemberButtons({ member, isSelf, isAdmin, isOwner, busy, onChange }: MemberButtonsProps): ReactNode {
  const { userId: subject, email, role } = member;
  // Only owners change owners, and every member may leave. The server decides.
  const mayChange = isAdmin && (isOwner || role !== 'owner');
  if (!mayChange && !isSelf) return undefined;
  const [verb, label] = isSelf ? ['Leave', 'Leave the organization'] : ['Remove', `Remove ${email}`];
  return (
    <div className="row-buttons">
      {mayChange ? (
        <ChangeRole
          name={email}
          place={whole}
          role={role}
          isOwner={isOwner}
          busy={busy}
          onChange={(next) => onChange({ ...whole, subject, role: next }, `${email} has the role ${next} now.`)}
        />
      ) : undefined}
      <AskFirst
        label={label}
        verb={verb}
        question={`${label}?`}
        detail="This ends the membership and the roles of this user in every project and environment. What a group gives stays, and so do service tokens."
        busy={busy}
        onConfirm={() => onChange({ ...whole, subject, role: null }, `${email} is no member any more.`)}
      />
    </div>
  );
}

import type { ReactNode } from 'react';
import type { RoleBindingView } from '../../../wire/role-bindings.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Moment } from '../../parts/moment.tsx';
import type { HeldRole } from '../../text/admin-of.ts';
import { rolePlaceText } from '../../text/role-place.ts';
import { ChangeRole } from './change-role.tsx';
import type { RoleRights } from './member-list.tsx';

export interface BindingListProps extends Omit<RoleRights, 'isAdmin'> {
  /** Whether the user changes roles at a place. */
  readonly mayChange: HeldRole['administers'];
  readonly roles: readonly RoleBindingView[];
}

export function NoRoles({ organization }: { readonly organization: string }): ReactNode {
  return (
    <Empty title="No role by place">
      <CopyCommand name="give a group a role in a project">
        {`keyframe role set group:platform -o ${organization} -p shop --role developer`}
      </CopyCommand>
    </Empty>
  );
}

/** The roles by place: of users within the organization, and of groups anywhere. */
export function BindingList({ roles, mayChange, isOwner, busy, onChange }: BindingListProps): ReactNode {
  return (
    <ul className="rows" aria-label="Roles by place">
      {roles.map((binding) => {
        const { user, group, role, project, environment, createdAt } = binding;
        const name = user?.email ?? `group ${group ?? ''}`;
        const subject = user?.id ?? `group:${group ?? ''}`;
        const place = rolePlaceText(binding);
        return (
          <li key={`${subject} ${place}`} className="row">
            <div className="row-text">
              <p className="row-title">
                <span>{name}</span>
                <span className="badge">{role}</span>
              </p>
              <p className="row-facts">
                <span>In {place}</span>
                <span>
                  Since <Moment at={createdAt} />
                </span>
              </p>
            </div>
            {mayChange(binding) ? (
              <div className="row-buttons">
                <ChangeRole
                  name={`${name} in ${place}`}
                  // A group is never owner.
                  place={{ project: project ?? '' }}
                  role={role}
                  isOwner={isOwner}
                  busy={busy}
                  onChange={(next) =>
                    onChange(
                      { subject, project, environment, role: next },
                      `${name} has the role ${next} in ${place} now.`,
                    )
                  }
                />
                <AskFirst
                  label={`Withdraw the role of ${name} in ${place}`}
                  verb="Withdraw"
                  question={`Withdraw the role of ${name}?`}
                  detail={`From the next request on it no longer counts in ${place}. Other roles stay.`}
                  busy={busy}
                  onConfirm={() =>
                    onChange(
                      { subject, project, environment, role: null },
                      `${name} no longer has the role ${role} in ${place}.`,
                    )
                  }
                />
              </div>
            ) : undefined}
          </li>
        );
      })}
    </ul>
  );
}

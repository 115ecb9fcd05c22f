import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { type ActorNames, useActorNames, useUserNames } from '../../api/actor-names.ts';
import { useAudit } from '../../api/audit.ts';
import { useMe } from '../../api/me.ts';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Page } from '../../parts/page.tsx';
import { useFilters } from '../../parts/use-filters.ts';
import { adminOf } from '../../text/admin-of.ts';
import { auditCommand, auditFilterOf } from '../../text/audit-filter.ts';
import { AuditEntries } from './audit-entries.tsx';
import { AuditFilters } from './audit-filters.tsx';

/** Who did what in an organization, and what was refused. */
export function AuditPage(): ReactNode {
  const { organization = '' } = useParams();
  const { data: user } = useMe();
  const isAdmin = user === undefined ? undefined : adminOf(organization, user).isAdmin;
  const names = useActorNames(organization, isAdmin === true);
  return (
    <Page title="Audit" intro={`Who did what in ${organization}, and what was refused. No entry has a value.`} wide>
      {isAdmin === false ? (
        <Empty title="Only admins read the audit">
          <p>Ask an admin or owner of {organization} for the role.</p>
        </Empty>
      ) : (
        <Audit key={organization} organization={organization} names={names} enabled={isAdmin === true} />
      )}
    </Page>
  );
}

/** The entries that belong to no organization, such as sign-ins and users. */
export function InstanceAuditPage(): ReactNode {
  const { data: user } = useMe();
  const isAdmin = user?.instanceAdmin;
  const names = useUserNames(isAdmin === true);
  return (
    <Page title="Audit of the instance" intro="Users, sign-ins and tokens, which belong to no organization." wide>
      {isAdmin === false ? (
        <Empty title="Only instance admins read the audit of the instance" />
      ) : (
        <Audit organization={undefined} names={names} enabled={isAdmin === true} />
      )}
    </Page>
  );
}

interface AuditProps {
  /** Undefined for the instance. */
  readonly organization: string | undefined;
  readonly names: ActorNames;
  readonly enabled: boolean;
}

function Audit({ organization, names, enabled }: AuditProps): ReactNode {
  const filters = useFilters();
  const filter = auditFilterOf(filters.get);
  const audit = useAudit(organization, filter, { enabled });
  return (
    <>
      <AuditFilters
        filter={filter}
        names={names}
        busy={audit.isFetching}
        onChange={(changes) => filters.set({ ...changes, entry: '' })}
        onRefresh={() => void audit.refetch()}
      />
      <AuditEntries audit={audit} names={names} action={filter.action} filters={filters} />
      <section className="section">
        <h2>The same in a terminal</h2>
        <CopyCommand name="read the same entries">{auditCommand(organization, filter)}</CopyCommand>
      </section>
    </>
  );
}

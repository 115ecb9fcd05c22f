import type { ReactNode } from 'react';
import type { AuditEntryView } from '../../../wire/audit.ts';
import { Button } from '../../parts/button.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Moment } from '../../parts/moment.tsx';
import { type SecretSyncLine, targetFields } from '../../text/audit-target.ts';
import { actorWords, OutcomeStatus } from './audit-table.tsx';

export interface EntryDrawerProps {
  readonly entry: AuditEntryView;
  readonly onFilter: (changes: Readonly<Record<string, string>>) => void;
  readonly onClose: () => void;
}

/** All of one entry. */
export function EntryDrawer({ entry, onFilter, onClose }: EntryDrawerProps): ReactNode {
  const { at, action, actor, target, sourceAddress, requestId, credential, cluster } = entry;
  return (
    <Drawer title={action} actions={<OutcomeStatus {...entry} />} onClose={onClose}>
      <Facts>
        <Fact name="When">
          <Moment at={at} />, at <span className="mono">{at}</span>
        </Fact>
        <Fact name="Actor">{actor.name}</Fact>
        <Fact name="Type">{actorWords[actor.type]}</Fact>
        <Fact name="Actor id">
          <span className="mono">{actor.id}</span>
        </Fact>
        <Fact name="Cluster">{cluster}</Fact>
        <Fact name="Address">{sourceAddress}</Fact>
        <Fact name="Credential">{credential === null ? undefined : <span className="mono">{credential.id}</span>}</Fact>
        <Fact name="Created by">{credential?.createdBy?.name}</Fact>
        <Fact name="Request">
          <span className="mono">{requestId}</span>
        </Fact>
      </Facts>
      <section className="drawer-section">
        <h3>Target</h3>
        <Facts>
          {targetFields(target).map(([name, value]) => (
            <Fact key={name} name={name}>
              {typeof value === 'string' ? value : <SecretSyncs lines={value} />}
            </Fact>
          ))}
        </Facts>
      </section>
      <div className="drawer-buttons">
        <Button onClick={() => onFilter({ actor: actor.id })}>Only this actor</Button>
        <Button onClick={() => onFilter({ action })}>Only this action</Button>
      </div>
    </Drawer>
  );
}

function SecretSyncs({ lines }: { readonly lines: readonly SecretSyncLine[] }): ReactNode {
  return (
    <ul className="fact-lines">
      {lines.map(({ title, detail }) => (
        <li key={`${title} ${detail}`}>
          <span>{title}</span>
          <span className="small muted">{detail}</span>
        </li>
      ))}
    </ul>
  );
}

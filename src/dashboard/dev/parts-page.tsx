import { type ReactNode, useState } from 'react';
import { MemoryRouter } from 'react-router';
import { ApiError } from '../api/client.ts';
import { EventRow } from '../pages/history/event-row.tsx';
import { Button } from '../parts/button.tsx';
import { CopyCommand } from '../parts/copy-command.tsx';
import { Drawer } from '../parts/drawer.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { Notice } from '../parts/notice.tsx';
import { Plan, PlanRow } from '../parts/plan.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Status } from '../parts/status.tsx';
import { VirtualTable } from '../parts/virtual-table.tsx';

const rows = Array.from({ length: 10_000 }, (_, index) => `KEY_${index}`);
const failed = new ApiError('The server could not be reached.', {
  status: 0,
  code: 'unreachable',
  retryAfterSeconds: undefined,
});

const person = '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e';
const revision = {
  revision: 2,
  revisionId: '0b6cfc0a-5d0f-4a52-9a0c-0d3c6f4b7a11',
  changedBy: person,
  changedByType: 'user',
  changedByName: 'ann@example.com',
  comment: 'Why it was changed',
  createdAt: '2026-01-01T12:00:00.000Z',
  keys: [
    { key: 'NEW', version: 1 },
    { key: 'CHANGED', version: 2 },
    { key: 'DELETED', version: null },
  ],
} as const;

/** Each part of the pages by itself, for developers. The built dashboard does not have it. */
export function PartsPage(): ReactNode {
  return (
    <main className="page page-wide">
      <h1>Parts</h1>
      <Part name="Buttons">
        <div className="drawer-buttons">
          <Button look="primary">Primary</Button>
          <Button>Plain</Button>
          <Button look="danger">Danger</Button>
          <Button look="quiet">Quiet</Button>
          <Button look="primary" busy>
            Busy
          </Button>
        </div>
      </Part>
      <Part name="States">
        <div className="statuses">
          <Status tone="good">Good</Status>
          <Status tone="warn">Warn</Status>
          <Status tone="danger">Danger</Status>
          <Status tone="neutral">Neutral</Status>
        </div>
      </Part>
      <Part name="Messages">
        <Notice kind="info">What the user should know.</Notice>
        <Failure error={failed} onRetry={() => undefined} />
        <CopyCommand name="an example">kubectl get secretsyncs.keyframe.dev -A</CopyCommand>
      </Part>
      <Part name="Loading and empty">
        <Skeleton name="Loading" rows={3} />
        <Empty title="Nothing yet">
          <p>What to do about it.</p>
        </Empty>
      </Part>
      <Part name="Plan">
        <Plan name="Changes">
          <PlanRow change="add" name="NEW" />
          <PlanRow change="set" name="CHANGED" />
          <PlanRow change="delete" name="DELETED" />
        </Plan>
      </Part>
      <Part name="Timeline">
        <MemoryRouter>
          <ol className="events">
            <EventRow
              entry={{ kind: 'revision', at: revision.createdAt, change: { ...revision, keys: [...revision.keys] } }}
            />
          </ol>
        </MemoryRouter>
      </Part>
      <DrawerPart />
      <TablePart />
    </main>
  );
}

function TablePart(): ReactNode {
  return (
    <Part name="Table">
      <VirtualTable
        name="Keys"
        className="keys"
        columns={['Key', 'Value', 'Version', 'Changed']}
        rows={rows}
        rowKey={(row) => row}
        rowHeight={{ wide: 49, narrow: 81 }}
      >
        {(row) => (
          <>
            <th scope="row" className="key-name mono">
              {row}
            </th>
            <td className="key-value">–</td>
            <td className="key-version">v1</td>
            <td className="key-changed">just now</td>
          </>
        )}
      </VirtualTable>
    </Part>
  );
}

function DrawerPart(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <Part name="Drawer">
      <div className="drawer-buttons">
        <Button onClick={() => setOpen(true)}>Open</Button>
      </div>
      {isOpen ? (
        <Drawer title="Drawer" onClose={() => setOpen(false)} foot={<Button look="primary">Done</Button>}>
          <p>Content</p>
        </Drawer>
      ) : undefined}
    </Part>
  );
}

function Part({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <section className="section">
      <h2>{name}</h2>
      {children}
    </section>
  );
}

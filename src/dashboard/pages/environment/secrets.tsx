import { type ReactNode, useMemo, useState } from 'react';
import { useSearchParams } from 'react-router';
import type { SecretKeyListView } from '../../../wire/secrets.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FilterField } from '../../parts/filter-field.tsx';
import { SavedNotice } from '../../parts/saved-notice.tsx';
import { useLeaveQuestion } from '../../parts/use-leave-question.ts';
import { VirtualTable } from '../../parts/virtual-table.tsx';
import type { HeldDraft } from '../../state/drafts.ts';
import { counted } from '../../text/counted.ts';
import { emptyDraft, planOf, withoutSaved } from '../../text/draft.ts';
import { rowsOf } from '../../text/key-rows.ts';
import type { Place, Rights } from '../../text/place.ts';
import { DraftBar } from './draft-bar.tsx';
import { KeyDrawer } from './key-drawer.tsx';
import { KeyCells } from './key-row.tsx';
import { NewKey } from './new-key.tsx';
import { PasteFile } from './paste-file.tsx';
import { Review, type ReviewProps } from './review.tsx';
import { useUnfinished } from './use-unfinished.ts';

export interface SecretsProps extends HeldDraft {
  readonly place: Place;
  readonly list: SecretKeyListView;
  readonly rights: Rights;
}

type Panel = 'new' | 'paste' | 'review';

const columns = ['Key', 'Value', 'Version', 'Changed'];
const rowHeight = { wide: 49, narrow: 81 };

/** The table of keys, with what the user wants to change. */
export function Secrets({ place, list, rights, draft, change }: SecretsProps): ReactNode {
  const [parameters, setParameters] = useSearchParams();
  const [filter, setFilter] = useState('');
  const [panel, setPanel] = useState<Panel>();
  const [saved, setSaved] = useState('');
  const rows = useMemo(() => rowsOf(list.secrets, draft, filter), [list, draft, filter]);
  const versions = useMemo(() => new Map(list.secrets.map(({ key, version }) => [key, version])), [list]);
  const plan = useMemo(() => planOf(draft, versions), [draft, versions]);
  const open = parameters.get('key');
  const close = (): void => setPanel(undefined);
  const held = { draft, change, versions };
  return (
    <>
      <SavedNotice place={place}>{saved}</SavedNotice>
      <Toolbar
        filter={filter}
        onFilter={setFilter}
        count={rows.length}
        onOpen={rights.mayWrite ? setPanel : undefined}
      />
      {rows.length === 0 ? (
        <NoKeys filter={filter} mayWrite={rights.mayWrite} />
      ) : (
        <VirtualTable
          name="Keys"
          className="keys"
          columns={columns}
          rows={rows}
          rowKey={({ key }) => key}
          rowHeight={rowHeight}
        >
          {(row) => <KeyCells row={row} place={place} />}
        </VirtualTable>
      )}
      {plan.length === 0 ? undefined : (
        <DraftBar plan={plan} onDiscard={() => change(() => emptyDraft)} onReview={() => setPanel('review')} />
      )}
      {open === null ? undefined : (
        <KeyDrawer
          key={open}
          name={open}
          place={place}
          secret={list.secrets.find(({ key }) => key === open)}
          rights={rights}
          held={held}
          onReview={() => {
            setParameters({});
            setPanel('review');
          }}
          onClose={() => setParameters({})}
        />
      )}
      <OpenPanel
        panel={panel}
        place={place}
        plan={plan}
        revisionId={list.revisionId}
        held={held}
        onClose={close}
        onSaved={(report, changes) => {
          change((present) => withoutSaved(present, changes));
          setSaved(report);
          setPanel((present) => (present === 'review' ? undefined : present));
        }}
      />
    </>
  );
}

interface OpenPanelProps extends ReviewProps {
  readonly panel: Panel | undefined;
}

const noKey = { key: '', value: '' };

function OpenPanel({ panel, ...review }: OpenPanelProps): ReactNode {
  const { held, onClose } = review;
  const newKey = useUnfinished(noKey, onClose);
  const file = useUnfinished('', onClose);
  useLeaveQuestion(newKey.typed.value !== '' || file.typed !== '');
  if (panel === 'new') return <NewKey held={held} {...newKey} />;
  if (panel === 'paste') return <PasteFile held={held} {...file} />;
  return panel === 'review' ? <Review {...review} /> : undefined;
}

interface ToolbarProps {
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly count: number;
  /** Undefined for a user who may not write. */
  readonly onOpen: ((panel: Panel) => void) | undefined;
}

function Toolbar({ filter, onFilter, count, onOpen }: ToolbarProps): ReactNode {
  return (
    <div className="toolbar">
      <FilterField name="Filter by name" value={filter} onChange={onFilter} />
      <output className="muted toolbar-count">
        {filter.trim() === '' ? counted(count, 'key') : `${counted(count, 'key')} found`}
      </output>
      {onOpen === undefined ? undefined : (
        <span className="toolbar-end">
          <Button onClick={() => onOpen('paste')}>Paste a .env</Button>
          <Button look="primary" onClick={() => onOpen('new')}>
            New key
          </Button>
        </span>
      )}
    </div>
  );
}

function NoKeys({ filter, mayWrite }: { readonly filter: string; readonly mayWrite: boolean }): ReactNode {
  if (filter.trim() !== '') return <Empty title="No key has this name" />;
  return (
    <Empty title="This environment has no keys">
      {mayWrite ? <p>Add one with New key, or paste a .env file.</p> : undefined}
    </Empty>
  );
}

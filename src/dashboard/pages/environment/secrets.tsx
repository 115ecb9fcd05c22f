import { type ReactNode, useMemo, useState } from 'react';
import { useSearchParams } from 'react-router';
import type { SecretKeyListView } from '../../../wire/secrets.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FilterField } from '../../parts/form/filter-field.tsx';
import { useLeaveQuestion } from '../../parts/use-leave-question.ts';
import { VirtualTable } from '../../parts/virtual-table.tsx';
import { counted } from '../../text/counted.ts';
import { emptyDraft } from '../../text/draft.ts';
import { rowsOf } from '../../text/key-rows.ts';
import type { Place, Rights } from '../../text/place.ts';
import { CommitNotice } from './commit-notice.tsx';
import { DraftBar } from './draft-bar.tsx';
import { KeyDrawer } from './key-drawer.tsx';
import { KeyCells } from './key-row.tsx';
import { NewKey } from './new-key.tsx';
import { PasteFile } from './paste-file.tsx';
import { Review, type ReviewProps } from './review.tsx';
import { type HeldKeys, useHeldKeys } from './held-keys.ts';
import { useUnfinished } from './use-unfinished.ts';

export interface SecretsProps {
  readonly place: Place;
  readonly list: SecretKeyListView;
  readonly rights: Rights;
  readonly userId: string;
}

type Panel = 'new' | 'paste' | 'review';

const columns = ['Key', 'Value', 'Version', 'Changed'];
const rowHeight = { wide: 49, narrow: 81 };

/** The table of keys, with what the user wants to change. */
export function Secrets({ place, list, rights, userId }: SecretsProps): ReactNode {
  const [parameters, setParameters] = useSearchParams();
  const [filter, setFilter] = useState('');
  const { held, plan, save } = useHeldKeys(place, userId, list);
  const rows = useMemo(() => rowsOf(list.secrets, held.draft, filter), [list, held.draft, filter]);
  const [panel, setPanel] = usePanel(held);
  const open = parameters.get('key');
  return (
    <>
      {panel === 'review' ? undefined : <CommitNotice {...held} place={place} conflicts={0} />}
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
      <DraftBar
        {...plan}
        isLost={held.commit?.isLost === true}
        onDiscard={() => held.change(() => emptyDraft)}
        onReview={() => setPanel('review')}
      />
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
        held={held}
        onClose={() => setPanel(undefined)}
        onSave={save}
      />
    </>
  );
}

/** The panel that is open. The review ends with a commit. */
function usePanel({ outcome }: HeldKeys): [Panel | undefined, (panel: Panel | undefined) => void] {
  const [panel, setPanel] = useState<Panel>();
  const [known, setKnown] = useState(outcome);
  if (outcome !== known) {
    setKnown(outcome);
    if (panel === 'review' && outcome?.kind === 'saved') setPanel(undefined);
  }
  return [panel, setPanel];
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

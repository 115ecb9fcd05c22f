import { type ReactNode, useMemo, useState } from 'react';
import { generatePath, Link } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { VirtualTable } from '../../parts/virtual-table.tsx';
import { type ComparedKey, isPromotable, type KeyState } from '../../text/comparison.ts';
import { counted } from '../../text/counted.ts';
import type { Place } from '../../text/place.ts';

export interface ComparedKeysProps {
  readonly rows: readonly ComparedKey[];
  readonly here: Place;
  readonly there: Place;
  readonly chosen: ReadonlySet<string>;
  /** Undefined for a user who may not write this environment. */
  readonly onChoose: ((chosen: ReadonlySet<string>) => void) | undefined;
  readonly onPromote: () => void;
}

const states = ['there', 'differs', 'both', 'here', 'same'] as const;
const marks = { there: 'mark-add', differs: 'mark-set', both: '', here: 'mark-delete', same: '' } as const;
const rowHeight = { wide: 49, narrow: 73 };

/** The table of compared keys, by state, with those that the user chooses. */
export function ComparedKeys({ rows, here, there, chosen, onChoose, onPromote }: ComparedKeysProps): ReactNode {
  const [hidden, setHidden] = useState<ReadonlySet<KeyState>>(new Set(['same']));
  const shown = useMemo(() => rows.filter(({ state }) => !hidden.has(state)), [rows, hidden]);
  const names = wordsOf(here, there);
  const offered = shown.filter(isPromotable);
  const isAll = offered.length > 0 && offered.every(({ key }) => chosen.has(key));
  if (rows.length === 0) return <Empty title="Neither of the two environments has a key" />;
  return (
    <>
      <div className="toolbar">
        <ShownStates
          rows={rows}
          names={names}
          hidden={hidden}
          onToggle={(state) => setHidden(toggled(hidden, state))}
        />
        {onChoose === undefined || offered.length === 0 ? undefined : (
          <span className="toolbar-end">
            <Button look="quiet" onClick={() => onChoose(new Set(isAll ? [] : offered.map(({ key }) => key)))}>
              {isAll ? 'Choose none' : `Choose all ${offered.length.toLocaleString('en')}`}
            </Button>
          </span>
        )}
      </div>
      {shown.length === 0 ? (
        <NothingShown isSame={rows.every(({ state }) => state === 'same')} count={rows.length} />
      ) : (
        <VirtualTable
          name="Compared keys"
          className="compared"
          columns={['Key', there.environment, here.environment, 'Difference']}
          rows={shown}
          rowKey={({ key }) => key}
          rowHeight={rowHeight}
        >
          {(row) => (
            <Cells
              row={row}
              place={here}
              word={names[row.state]}
              isChosen={chosen.has(row.key)}
              onToggle={onChoose === undefined ? undefined : () => onChoose(toggled(chosen, row.key))}
            />
          )}
        </VirtualTable>
      )}
      {chosen.size === 0 || onChoose === undefined ? undefined : (
        <ChosenBar
          count={chosen.size}
          deletions={rows.filter(({ key, state }) => state === 'here' && chosen.has(key)).length}
          from={there.environment}
          environment={here.environment}
          onClear={() => onChoose(new Set())}
          onPromote={onPromote}
        />
      )}
    </>
  );
}

interface ShownStatesProps {
  readonly rows: readonly ComparedKey[];
  readonly names: Readonly<Record<KeyState, string>>;
  readonly hidden: ReadonlySet<KeyState>;
  readonly onToggle: (state: KeyState) => void;
}

/** A button for each state that a key has, which shows and hides its keys. */
function ShownStates({ rows, names, hidden, onToggle }: ShownStatesProps): ReactNode {
  const counts = useMemo(() => Map.groupBy(rows, ({ state }) => state), [rows]);
  return (
    <fieldset className="toggles">
      <legend className="visually-hidden">Shown keys</legend>
      {states
        .filter((state) => counts.has(state))
        .map((state) => (
          <button
            key={state}
            type="button"
            className="toggle"
            aria-pressed={!hidden.has(state)}
            onClick={() => onToggle(state)}
          >
            {names[state]} <span className="toggle-count">{counts.get(state)?.length.toLocaleString('en')}</span>
          </button>
        ))}
    </fieldset>
  );
}

interface ChosenBarProps {
  readonly count: number;
  /** How many of them are deleted, because the other environment does not have them. */
  readonly deletions: number;
  readonly from: string;
  readonly environment: string;
  readonly onClear: () => void;
  readonly onPromote: () => void;
}

/** At the bottom of the window while keys are chosen. */
function ChosenBar({ count, deletions, from, environment, onClear, onPromote }: ChosenBarProps): ReactNode {
  return (
    <section className="draft-bar" aria-label="Chosen keys">
      <p>
        <strong>{counted(count, 'key')}</strong> chosen
        {deletions === 0 ? undefined : (
          <>
            :{' '}
            <span className="chosen-deleted">
              {counted(deletions, 'is', 'are')} not in {from} and will be deleted
            </span>
          </>
        )}
      </p>
      <Button look="quiet" onClick={onClear}>
        Clear
      </Button>
      <Button look="primary" onClick={onPromote}>
        Promote to {environment}
      </Button>
    </section>
  );
}

function NothingShown({ isSame, count }: { readonly isSame: boolean; readonly count: number }): ReactNode {
  if (!isSame) return <Empty title="All differences are hidden" />;
  return (
    <Empty title="There is no difference">
      <p>{counted(count, 'key')} with the same values in both.</p>
    </Empty>
  );
}

interface CellsProps {
  readonly row: ComparedKey;
  readonly place: Place;
  readonly word: string;
  readonly isChosen: boolean;
  readonly onToggle: (() => void) | undefined;
}

function Cells({ row, place, word, isChosen, onToggle }: CellsProps): ReactNode {
  const { key, state, here, there } = row;
  return (
    <>
      <th scope="row" className="key-name">
        {onToggle === undefined ? undefined : isPromotable(row) ? (
          <label className="pick">
            <input type="checkbox" checked={isChosen} onChange={onToggle} />
            <span className="visually-hidden">Choose {key}</span>
          </label>
        ) : (
          <span className="pick" />
        )}
        <Link
          className="mono"
          to={{
            pathname: generatePath(dashboardPaths.environment, { ...place }),
            search: `?key=${encodeURIComponent(key)}`,
          }}
          title={key}
        >
          {key}
        </Link>
      </th>
      <td className="compared-there muted">{there === undefined ? '–' : `v${there}`}</td>
      <td className="compared-here muted">{here === undefined ? '–' : `v${here}`}</td>
      <td className="compared-state">
        {marks[state] === '' ? (
          <span className="muted">{word}</span>
        ) : (
          <span className={`mark ${marks[state]}`}>{word}</span>
        )}
      </td>
    </>
  );
}

function wordsOf(here: Place, there: Place): Readonly<Record<KeyState, string>> {
  const isClear = here.environment !== there.environment;
  const name = ({ project, environment }: Place): string => (isClear ? environment : `${project}/${environment}`);
  return {
    there: `Only in ${name(there)}`,
    differs: 'Differs',
    both: 'In both',
    here: `Only in ${name(here)}`,
    same: 'Same',
  };
}

function toggled<Item>(set: ReadonlySet<Item>, item: Item): ReadonlySet<Item> {
  const changed = new Set(set);
  if (!changed.delete(item)) changed.add(item);
  return changed;
}

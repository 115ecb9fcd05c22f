import { type ReactNode, useState } from 'react';
import type { SecretKeyListView } from '../../../wire/secrets.ts';
import { copyRequest, useApply, usePlan } from '../../api/plans.ts';
import { Button } from '../../parts/button.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Notice } from '../../parts/notice.tsx';
import { PlanDrawer } from '../../parts/plan-drawer.tsx';
import { type ComparedKey, type Selection, selectionOf } from '../../text/comparison.ts';
import type { Place } from '../../text/place.ts';
import { copyKeys } from '../../text/planned-keys.ts';

export interface PromotionProps {
  /** Where the keys go. */
  readonly place: Place;
  readonly from: Place;
  /** The keys of `from` that were compared. */
  readonly fromList: SecretKeyListView;
  /** The id of the present revision of `place`. */
  readonly present: string;
  readonly rows: readonly ComparedKey[];
  readonly chosen: ReadonlySet<string>;
  readonly onClose: () => void;
  readonly onDone: (report: string) => void;
}

/** Copies the chosen keys as planned. */
export function Promotion({ rows, chosen, ...rest }: PromotionProps): ReactNode {
  // What was chosen when the plan was opened: the comparison may change below it.
  const [selection] = useState(() => selectionOf(rows, chosen));
  const [revision] = useState(rest.fromList);
  if (selection !== undefined) return <Promote {...rest} fromList={revision} selection={selection} />;
  return (
    <Drawer title="Promote" onClose={rest.onClose} foot={<Button onClick={rest.onClose}>Back</Button>}>
      <Notice>One request can name 256 keys. Choose fewer, or nearly all.</Notice>
    </Drawer>
  );
}

type PromoteProps = Omit<PromotionProps, 'rows' | 'chosen'> & { readonly selection: Selection };

function Promote({ place, from, fromList, present, selection, onClose, onDone }: PromoteProps): ReactNode {
  const request = copyRequest(place, { from, revision: fromList.revisionId, ...selection });
  const plan = usePlan(request);
  const apply = useApply(place, request);
  const source = `${from.project}/${from.environment}`;
  return (
    <PlanDrawer
      title={`Promote to ${place.environment}`}
      intro={`Keys become as they are in ${source} at revision ${fromList.revision}, as one revision of ${place.project}/${place.environment}. Values are copied on the server.`}
      plan={plan}
      apply={apply}
      keysOf={copyKeys}
      present={present}
      label="Promote"
      origin={`copied from ${source} at revision ${fromList.revision}`}
      onDone={({ revision }) => onDone(`Promoted from ${source}, as revision ${revision}.`)}
      onBack={onClose}
      onClose={onClose}
    />
  );
}

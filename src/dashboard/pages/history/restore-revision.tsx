import { type ReactNode, useState } from 'react';
import { copyRequest, useApply, usePlan } from '../../api/plans.ts';
import { CheckField } from '../../parts/form/check-field.tsx';
import { PlanDrawer } from '../../parts/plan-drawer.tsx';
import { stateKeys } from '../../text/planned-keys.ts';
import type { HistoryDrawerProps } from './use-timeline.ts';

/** What a way back from a revision, by its plan, needs to know. */
export interface WayBackProps extends HistoryDrawerProps {
  /** Its number, as the address has it. */
  readonly revision: string;
  /** Or its number, while its entry is not loaded. */
  readonly revisionId: string;
  readonly onBack: () => void;
}

/** The plan to go back to the state at a revision, and its button. */
export function RestoreRevision(props: WayBackProps): ReactNode {
  const { revision, revisionId, place, present, onBack, onClose, onDone } = props;
  const [isMirror, setMirror] = useState(false);
  const request = copyRequest(place, { from: place, revision: revisionId, mode: isMirror ? 'mirror' : 'changed' });
  const plan = usePlan(request);
  const apply = useApply(place, request);
  return (
    <PlanDrawer
      title={`Restore the state of revision ${revision}`}
      intro={`All keys return to their values at revision ${revision}, also those that were deleted since. It is one new revision, and no version is removed.`}
      plan={plan}
      onBack={onBack}
      onClose={onClose}
      apply={apply}
      keysOf={stateKeys}
      present={present?.revisionId}
      label="Restore"
      origin={`restored revision ${revision}`}
      onDone={(done) => onDone(`Restored the state of revision ${revision}, as revision ${done.revision}.`)}
    >
      <CheckField isChecked={isMirror} onChange={setMirror}>
        Delete keys that were created since
      </CheckField>
    </PlanDrawer>
  );
}

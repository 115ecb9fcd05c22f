import { type ComponentProps, type ReactNode, useId, useState } from 'react';
import type { ActorNames } from '../../api/actor-names.ts';
import { Button } from '../../parts/button.tsx';
import { ChoiceField } from '../../parts/form/choice-field.tsx';
import { FieldFault } from '../../parts/form/field-fault.tsx';
import { actionChoices, actionFault, actorIdOf, actorTypes, type AuditFilter, spans } from '../../text/audit-filter.ts';

export interface AuditFiltersProps {
  readonly filter: AuditFilter;
  readonly names: ActorNames;
  readonly busy: boolean;
  /** With the names of the query: `type` is the type of the actor. */
  readonly onChange: (changes: Readonly<Record<string, string>>) => void;
  readonly onRefresh: () => void;
}

/** The fields that choose entries. A text counts at Enter, and when its field is left. */
export function AuditFilters({ filter, names, busy, onChange, onRefresh }: AuditFiltersProps): ReactNode {
  const [fault, setFault] = useState<string>();
  const { action, actor, actorType, since } = filter;
  const isFiltered = [action, actor, actorType, since].some((value) => value !== '');
  const chooseAction = (text: string): void => {
    setFault(actionFault(text));
    if (actionFault(text) === undefined && text !== action) onChange({ action: text });
  };
  const chooseActor = (text: string): void => {
    const id = text === '' ? '' : actorIdOf(text, names);
    setFault(id === undefined ? 'No member or service token has this name. The id of any actor works too.' : undefined);
    if (id !== undefined && id !== actor) onChange({ actor: id });
  };
  const clear = (): void => {
    setFault(undefined);
    onChange({ action: '', actor: '', type: '', since: '' });
  };
  return (
    <div className="audit-filters">
      <div className="toolbar">
        <TextFilter name="Action" value={action} choices={actionChoices} onChoose={chooseAction} />
        <TextFilter
          name="Actor"
          value={names.get(actor) ?? actor}
          choices={[...new Set(names.values())]}
          onChoose={chooseActor}
        />
        <ChoiceField
          label="Type of actor"
          isLabelHidden
          value={actorType}
          options={actorTypes}
          onChange={(type) => onChange({ type })}
        />
        <ChoiceField
          label="Time"
          isLabelHidden
          value={since}
          options={spans}
          onChange={(span) => onChange({ since: span })}
        />
        <div className="toolbar-end">
          {isFiltered ? (
            <Button look="quiet" onClick={clear}>
              Clear
            </Button>
          ) : undefined}
          <Button busy={busy} onClick={onRefresh}>
            Refresh
          </Button>
        </div>
      </div>
      <FieldFault>{fault}</FieldFault>
    </div>
  );
}

interface TextFilterProps {
  readonly name: string;
  readonly value: string;
  /** Offered while the user types. */
  readonly choices: readonly string[];
  readonly onChoose: (text: string) => void;
}

function TextFilter({ name, value, choices, onChoose }: TextFilterProps): ReactNode {
  const id = useId();
  const submit: ComponentProps<'form'>['onSubmit'] = (event) => {
    event.preventDefault();
    const field = event.currentTarget.elements.namedItem('text');
    if (field instanceof HTMLInputElement) onChoose(field.value.trim());
  };
  return (
    <form className="field text-filter" onSubmit={submit}>
      <label htmlFor={id} className="visually-hidden">
        {name}
      </label>
      <input
        // A value that comes from elsewhere, such as the address, replaces what was typed.
        key={value}
        id={id}
        name="text"
        className="input"
        list={`${id}-choices`}
        placeholder={name}
        defaultValue={value}
        onBlur={(event) => onChoose(event.target.value.trim())}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
      />
      <datalist id={`${id}-choices`}>
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </datalist>
    </form>
  );
}

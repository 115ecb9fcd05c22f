import { type ReactNode, useId } from 'react';
import { type IssuerPreset, type NeededClaim, sufficientClaims } from '../../../wire/issuer-presets.ts';
import { Button } from '../../parts/button.tsx';
import { ChoiceField } from '../../parts/form/choice-field.tsx';
import { FieldFault } from '../../parts/form/field-fault.tsx';
import { LinesField } from '../../parts/form/lines-field.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { type ClaimsDraft, claimField, type FurtherClaim, neededClaims, typedValues } from '../../text/federation.ts';
import { faultOf, type InvalidField } from '../../text/invalid-fields.ts';

export interface ClaimFieldsProps {
  readonly preset: IssuerPreset;
  readonly claims: ClaimsDraft;
  readonly faults: readonly InvalidField[];
  readonly onChange: (claims: ClaimsDraft) => void;
}

/** The claims that a JWT must have: those that the preset of the issuer needs, then others. */
export function ClaimFields({ preset, claims, faults, onChange }: ClaimFieldsProps): ReactNode {
  const id = useId();
  const sets = sufficientClaims(preset);
  const setFurther = (further: readonly FurtherClaim[]): void => onChange({ ...claims, further });
  return (
    <fieldset className="claims" aria-describedby={id}>
      <legend>Claims</legend>
      <p className="muted small">
        A JWT must have each claim, with one of its values. Values are compared exactly: one in each line.
      </p>
      <FieldFault id={id}>{faultOf(faults, 'federation.claims')}</FieldFault>
      {sets.length < 2 ? undefined : (
        <ChoiceField
          label="Claims to check"
          value={String(claims.set)}
          options={sets.map((set, index) => [String(index), set.map(({ name }) => name).join(', ')])}
          onChange={(set) => onChange({ ...claims, set: Number(set) })}
        />
      )}
      {neededClaims(preset, claims).map((needed) => (
        <LinesField
          key={needed.name}
          label={needed.name}
          value={typedValues(claims, needed)}
          help={helpOf(needed)}
          fault={faultOf(faults, claimField(needed.name))}
          onChange={(text) => onChange({ ...claims, values: { ...claims.values, [needed.name]: text } })}
        />
      ))}
      {claims.further.map((claim, index) => (
        <Further
          key={claim.id}
          claim={claim}
          position={index + 1}
          fault={faultOf(faults, claimField(claim.name.trim()))}
          onChange={(changed) => setFurther(claims.further.map((one) => (one.id === claim.id ? changed : one)))}
          onRemove={() => setFurther(claims.further.filter(({ id: other }) => other !== claim.id))}
        />
      ))}
      <div>
        <Button onClick={() => setFurther([...claims.further, { id: crypto.randomUUID(), name: '', values: '' }])}>
          Add a claim
        </Button>
      </div>
    </fieldset>
  );
}

const helps: Readonly<Record<string, string>> = {
  repository_id: 'The number of the repository, not its name, which others can get after a rename.',
  project_id: 'The number of the project, not its path, which others can get after a rename.',
  ref: 'Such as refs/heads/main in GitHub, or main in GitLab.',
  sub: 'Such as system:serviceaccount:shop:ci in Kubernetes.',
};

function helpOf({ name, is, isNot }: NeededClaim): string | undefined {
  if (is !== undefined) return `Must be ${is}.`;
  return isNot === undefined ? helps[name] : `Anything but ${isNot}, such as push.`;
}

interface FurtherProps {
  readonly claim: FurtherClaim;
  /** From 1. */
  readonly position: number;
  readonly fault: string | null;
  readonly onChange: (claim: FurtherClaim) => void;
  readonly onRemove: () => void;
}

function Further({ claim, position, fault, onChange, onRemove }: FurtherProps): ReactNode {
  return (
    <fieldset className="further-claim">
      <legend className="visually-hidden">Further claim {position}</legend>
      <TextField
        label={`Claim ${position}`}
        value={claim.name}
        onChange={(name) => onChange({ ...claim, name })}
        isExact
        isMono
        maxLength={100}
      />
      <LinesField
        label={`Values of claim ${position}`}
        value={claim.values}
        fault={fault}
        onChange={(values) => onChange({ ...claim, values })}
      />
      <div>
        <Button aria-label={`Remove claim ${position}`} onClick={onRemove}>
          Remove
        </Button>
      </div>
    </fieldset>
  );
}

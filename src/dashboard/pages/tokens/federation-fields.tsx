import type { ReactNode } from 'react';
import type { IssuerNameView } from '../../../wire/trusted-issuers.ts';
import { ChoiceField } from '../../parts/form/choice-field.tsx';
import { FieldFault } from '../../parts/form/field-fault.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Notice } from '../../parts/notice.tsx';
import { faultOf, type InvalidField } from '../../text/invalid-fields.ts';
import { ClaimFields } from './claim-fields.tsx';
import type { FederationDraft } from './use-federation-draft.ts';

export interface FederationFieldsProps extends FederationDraft {
  readonly invalid: readonly InvalidField[];
}

/** What proves the token: its value, or JWTs of an issuer with claims. */
export function FederationFields(props: FederationFieldsProps): ReactNode {
  const { isFederated, setFederated, issuers, issuer, setIssuer, claims, setClaims, invalid } = props;
  return (
    <>
      <ChoiceField
        label="Proof"
        value={isFederated ? 'federated' : 'value'}
        options={[
          ['value', 'A value, which is shown once'],
          ['federated', 'JWTs of a trusted issuer'],
        ]}
        onChange={(proof) => setFederated(proof === 'federated')}
        help={
          isFederated ? 'The platform proves who the job or pod is. There is no value to store or replace.' : undefined
        }
      />
      {isFederated ? (
        <Loaded query={issuers} waiting={<p className="muted">Loading the issuers…</p>}>
          {(list) =>
            list.length === 0 ? (
              <Notice kind="info">
                The server trusts no issuer yet. An instance admin adds one with <code>keyframe issuer set</code>.
              </Notice>
            ) : (
              <>
                <ChoiceField
                  label="Issuer"
                  value={issuer?.name ?? ''}
                  options={[['', 'Choose an issuer'], ...list.map((one) => [one.name, textOf(one)] as const)]}
                  onChange={setIssuer}
                />
                <FieldFault>{faultOf(invalid, 'federation.issuer')}</FieldFault>
              </>
            )
          }
        </Loaded>
      ) : undefined}
      {issuer === undefined ? undefined : (
        <ClaimFields preset={issuer.preset} claims={claims} faults={invalid} onChange={setClaims} />
      )}
    </>
  );
}

function textOf({ name, iss, isDisabled }: IssuerNameView): string {
  return `${name}: ${iss}${isDisabled ? ' (disabled)' : ''}`;
}

import { useState } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { IssuerNameView } from '../../../wire/trusted-issuers.ts';
import type { ApiError } from '../../api/client.ts';
import type { NewToken } from '../../api/service-tokens.ts';
import { useIssuerNames } from '../../api/trusted-issuers.ts';
import { type ClaimsDraft, claimsOf, missingClaims, noClaims } from '../../text/federation.ts';
import type { InvalidField } from '../../text/invalid-fields.ts';

/** What a form has of a federation. */
export interface FederationDraft {
  readonly isFederated: boolean;
  readonly setFederated: (isFederated: boolean) => void;
  readonly issuers: UseQueryResult<readonly IssuerNameView[], ApiError>;
  /** The chosen one. */
  readonly issuer: IssuerNameView | undefined;
  readonly setIssuer: (name: string) => void;
  readonly claims: ClaimsDraft;
  readonly setClaims: (claims: ClaimsDraft) => void;
  /** The fields without a value, once `check` was called. */
  readonly missing: readonly InvalidField[];
  /** What the request has; nothing for a token with a value. */
  readonly input: Pick<NewToken, 'federation'>;
  /** Says what is wrong, if something is, and marks the fields that need a value. */
  readonly check: () => string | undefined;
}

export function useFederationDraft(organization: string): FederationDraft {
  const [isFederated, setFederated] = useState(false);
  const [issuerName, setIssuerName] = useState('');
  const [claims, setClaims] = useState(noClaims);
  const [isChecked, setChecked] = useState(false);
  const issuers = useIssuerNames(organization, { enabled: isFederated });
  const issuer = isFederated ? issuers.data?.find((one) => one.name === issuerName) : undefined;
  const missing = issuer === undefined ? [] : missingClaims(claims, issuer.preset);
  return {
    isFederated,
    setFederated,
    issuers,
    issuer,
    setIssuer: (name) => {
      setIssuerName(name);
      // Another preset may need other claims.
      setClaims((draft) => ({ ...draft, set: 0 }));
      setChecked(false);
    },
    claims,
    setClaims,
    missing: isChecked ? missing : [],
    input: issuer === undefined ? {} : { federation: { issuer: issuer.name, claims: claimsOf(claims, issuer.preset) } },
    check: () => {
      setChecked(true);
      if (isFederated && issuer === undefined) return 'Choose the issuer.';
      return missing.length > 0 ? 'Give each claim a value.' : undefined;
    },
  };
}

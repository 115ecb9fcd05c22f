import type { ReactNode } from 'react';
import type { FederationView } from '../../../wire/federation.ts';
import type { ServiceTokenView } from '../../../wire/service-tokens.ts';
import { shownText } from '../../../wire/shown-text.ts';
import { useIssuerNames } from '../../api/trusted-issuers.ts';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { usageOf } from '../../text/federation.ts';

export interface FederationProps {
  readonly organization: string;
  readonly token: ServiceTokenView;
  /** Whether the user sees the issuers of the organization. */
  readonly isAdmin: boolean;
}

/** What proves a federated token, and how a workload uses it. Nothing if it is not federated. */
export function Federation({ organization, token, isAdmin }: FederationProps): ReactNode {
  const { federation, cluster } = token;
  const issuers = useIssuerNames(organization, { enabled: isAdmin && federation !== undefined && cluster === null });
  if (federation === undefined) return undefined;
  const { audience, issuer, claims } = federation;
  const named = issuers.data?.find(({ name }) => name === issuer)?.preset;
  const usage = usageOf(federation, cluster === null ? named : 'kubernetes');
  return (
    <>
      <section className="drawer-section">
        <h3>Proof</h3>
        <p className="muted">A JWT of the issuer with this audience alone, and with each of the claims.</p>
        <CopyCommand name="the audience">{audience}</CopyCommand>
        <Facts>
          <Fact name="Issuer">{issuer}</Fact>
          <Fact name="Accepted">{acceptanceText(federation)}</Fact>
          <Fact name="Claims">
            <ul className="fact-lines">
              {Object.entries(claims).map(([claim, values]) => (
                <Claim key={claim} claim={claim} values={values} />
              ))}
            </ul>
          </Fact>
        </Facts>
      </section>
      <section className="drawer-section">
        <h3>Use it</h3>
        <p>{usage.text}</p>
        {usage.lines === undefined ? undefined : <CopyCommand name="the lines for the job">{usage.lines}</CopyCommand>}
      </section>
    </>
  );
}

function acceptanceText({ generation, issuerGeneration }: FederationView): string {
  if (issuerGeneration === null) return `Generation ${generation}. The issuer was deleted.`;
  if (generation === issuerGeneration) return `Generation ${generation}, as the issuer is now`;
  return `Generation ${generation}. The issuer is at generation ${issuerGeneration}.`;
}

/** Each text on its own: one that is written from right to left turns no other around. */
function Claim({ claim, values }: { readonly claim: string; readonly values: readonly string[] }): ReactNode {
  return (
    <li>
      <bdi className="mono">{shownText(claim)}</bdi>
      <ul className="claim-values">
        {values.map((value) => (
          <li key={value}>
            <bdi className="mono">{shownText(value)}</bdi>
          </li>
        ))}
      </ul>
    </li>
  );
}

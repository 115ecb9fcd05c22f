import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Database } from '../../store/database.ts';
import { acceptGeneration, type Accepted } from '../../store/token-federations.ts';
import { findServiceToken, type ServiceTokenRecord } from '../../store/service-tokens.ts';
import type { OrganizationAccess } from '../access/access.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { FederatedTokens } from '../access/federated-tokens.ts';
import { auditedFailure, auditedRead, successRecord } from '../audit/audited.ts';
import { makeChange } from '../change/change.ts';
import { checkUuid, checkVersion } from '../kernel/checks.ts';
import { explainJwt, type JwtExplanation } from './jwt-explanation.ts';
import { absentToken, homeOf } from './token-home.ts';

export interface FederationsDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
  readonly federated: Pick<FederatedTokens, 'judgeRead'>;
}

/** What admins of an organization decide on service tokens that JWTs prove (docs/federation.md). */
export class Federations {
  readonly #deps: FederationsDeps;

  constructor(deps: FederationsDeps) {
    this.#deps = deps;
  }

  /**
   * Accepts the present generation of the issuer of a token: the issuer as an instance admin last changed it. Accepting it
   * again changes nothing. Throws DomainError not_found, and conflict for another generation and for a token that is not
   * federated, is revoked, or whose issuer was deleted.
   */
  async acceptIssuer(
    access: OrganizationAccess<'service_token.accept_issuer'>,
    id: string,
    { generation }: { readonly generation: number },
  ): Promise<ServiceTokenRecord> {
    await auditedFailure(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      note({ serviceTokenId: id });
      checkVersion('generation', generation);
      await makeChange(this.#deps, access, async (tx) => {
        const accepted = await acceptGeneration(tx, homeOf(access), { id, generation });
        if (accepted === undefined) throw absentToken(id);
        if (accepted.outcome !== 'accepted') throw notAccepted(id, accepted);
        const { issuer, from } = accepted;
        const audited = { serviceTokenId: id, issuer, issuerGeneration: generation, from };
        return { result: undefined, audit: successRecord(access, audited) };
      });
    });
    const record = await findServiceToken(this.#deps.database.pool, homeOf(access), id);
    if (record === undefined) throw absentToken(id);
    return record;
  }

  /**
   * Explains whether a JWT proves a token, check by check; also for a token that has ended. It acts as no principal. Throws
   * DomainError not_found, conflict for a token that is not federated.
   */
  async explain(
    access: OrganizationAccess<'service_token.explain'>,
    id: string,
    { jwt }: { readonly jwt: string },
  ): Promise<JwtExplanation> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      note({ serviceTokenId: id });
      const record = await findServiceToken(this.#deps.database.pool, homeOf(access), id);
      if (record === undefined) throw absentToken(id);
      const { federation } = record;
      if (federation === null) throw notAccepted(id, { outcome: 'not_federated' });
      const explanation = await explainJwt(this.#deps.federated, jwt, {
        audience: federation.audience,
        claims: federation.claims,
        isIssuerDeleted: federation.issuerGeneration === null,
        isRevoked: record.revokedAt !== null,
        isSuspended: record.suspendedAt !== null,
      });
      note({ failed: explanation.checks.find(({ outcome }) => outcome === 'failed')?.check ?? null });
      return explanation;
    });
  }
}

type Refused = Exclude<Accepted, { readonly outcome: 'accepted' }>;

function notAccepted(id: string, refused: Refused): DomainError {
  return new DomainError('conflict', refusals[refused.outcome]({ id, issuer: '', present: 0, ...refused }));
}

interface RefusedAcceptance {
  readonly id: string;
  readonly issuer: string;
  readonly present: number;
}

const refusals: Readonly<Record<Refused['outcome'], (refused: RefusedAcceptance) => string>> = {
  other_generation: ({ issuer, present }) =>
    `trusted issuer ${issuer} is at generation ${present}; ask an instance admin what was changed, and accept that ` +
    'generation',
  issuer_deleted: ({ id, issuer }) =>
    `trusted issuer ${issuer} of service token ${id} was deleted; create a new token for another issuer, and revoke this one`,
  revoked: ({ id }) => `service token ${id} was revoked; create a new one instead`,
  not_federated: ({ id }) => `service token ${id} is not federated, so it has no issuer`,
};

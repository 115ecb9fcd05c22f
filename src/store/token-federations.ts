import { audienceOf } from '../domain/audience.ts';
import type { IssuerPreset, RequiredClaims } from '../domain/issuer-presets.ts';
import type { InstanceModel, ServiceTokenFederationModel, TrustedIssuerModel } from './generated/models.ts';
import { isIn, type TokenHome } from './token-home.ts';
import type { Transaction } from './transaction.ts';

/** An issuer that a federated token can name. */
export interface NamedIssuer extends Readonly<Pick<TrustedIssuerModel, 'id' | 'generation'>> {
  readonly name: NonNullable<TrustedIssuerModel['name']>;
  readonly preset: IssuerPreset;
  readonly isDisabled: boolean;
  /** The installation, for the audience. */
  readonly instance: InstanceModel['id'];
}

/** What proves a token, and what its issuer is now. */
export interface FederationRecord extends Readonly<Pick<ServiceTokenFederationModel, 'audience' | 'generation'>> {
  /** Name of the issuer, or of the cluster whose issuer it is. */
  readonly issuer: ServiceTokenFederationModel['issuerName'];
  readonly claims: RequiredClaims;
  /** The present one; null once the issuer was deleted. */
  readonly issuerGeneration: TrustedIssuerModel['generation'] | null;
}

/** The issuer with a name. It is not deleted before the end of the transaction. */
export async function findNamedIssuer(tx: Transaction, name: string): Promise<NamedIssuer | undefined> {
  return tx.row<NamedIssuer>`
    SELECT id, name, preset, generation, disabled_at IS NOT NULL AS "isDisabled",
      (SELECT id FROM instance) AS instance
    FROM trusted_issuer WHERE name = ${name} FOR KEY SHARE`;
}

/** Makes the credential of a new service token a federated one, with the present generation of its issuer. */
export async function insertFederation(
  tx: Transaction,
  ids: { readonly credentialId: string; readonly serviceTokenId: string },
  { issuer, claims }: { readonly issuer: NamedIssuer; readonly claims: RequiredClaims },
): Promise<FederationRecord> {
  const { name, generation, instance } = issuer;
  const audience = audienceOf(instance, { type: 'service_token', id: ids.serviceTokenId });
  await tx.run`
    INSERT INTO service_token_federation (credential_id, issuer_id, issuer_name, generation, audience, claims)
    VALUES (${ids.credentialId}::uuid, ${issuer.id}::uuid, ${name}, ${generation}::int, ${audience},
      ${JSON.stringify(claims)}::jsonb)`;
  return { issuer: name, audience, claims, generation, issuerGeneration: generation };
}

/** What became of an acceptance. */
export type Accepted =
  | { readonly outcome: 'accepted'; readonly issuer: string; readonly from: number }
  /** `present`: the generation that the issuer has instead of the given one. */
  | { readonly outcome: 'other_generation'; readonly issuer: string; readonly present: number }
  | { readonly outcome: 'issuer_deleted'; readonly issuer: string }
  | { readonly outcome: 'revoked' | 'not_federated' };

interface HeldFederation extends Readonly<Pick<ServiceTokenFederationModel, 'credentialId' | 'generation'>> {
  readonly issuer: ServiceTokenFederationModel['issuerName'];
  readonly present: TrustedIssuerModel['generation'] | null;
}

/**
 * Accepts the present generation of the issuer of a federated token. Undefined if the organization has no such token. A
 * revocation at the same moment comes before or after it, and the issuer is not changed before the end of the transaction.
 */
export async function acceptGeneration(
  tx: Transaction,
  home: TokenHome,
  { id, generation }: { readonly id: string; readonly generation: number },
): Promise<Accepted | undefined> {
  // The issuer before the token, as a change of the issuer that ends tokens.
  await tx.run`
    SELECT FROM trusted_issuer WHERE id IN (
      SELECT f.issuer_id FROM service_token_federation f JOIN service_token_credential c ON c.id = f.credential_id
      WHERE c.service_token_id = ${id}::uuid)
    ORDER BY id FOR SHARE`;
  const token = await tx.row<{ isRevoked: boolean }>`
    SELECT revoked_at IS NOT NULL AS "isRevoked" FROM service_token t
    WHERE id = ${id}::uuid AND ${isIn(home)} FOR NO KEY UPDATE`;
  if (token === undefined) return undefined;
  // Under the locks, by a separate statement: what a change of the issuer before this one has committed is seen now.
  const held = await tx.row<HeldFederation>`
    SELECT f.credential_id AS "credentialId", f.generation, f.issuer_name AS issuer, i.generation AS present
    FROM service_token_federation f
    JOIN service_token_credential c ON c.id = f.credential_id
    LEFT JOIN trusted_issuer i ON i.id = f.issuer_id
    WHERE c.service_token_id = ${id}::uuid ORDER BY c.serial DESC LIMIT 1`;
  if (held === undefined) return { outcome: 'not_federated' };
  if (token.isRevoked) return { outcome: 'revoked' };
  const { issuer, present, generation: from, credentialId } = held;
  if (present === null) return { outcome: 'issuer_deleted', issuer };
  if (present !== generation) return { outcome: 'other_generation', issuer, present };
  await tx.run`
    UPDATE service_token_federation SET generation = ${generation}::int WHERE credential_id = ${credentialId}::uuid`;
  return { outcome: 'accepted', issuer, from };
}

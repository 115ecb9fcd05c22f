import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { validateClaims } from '../../domain/federation.ts';
import { presetFault, type RequiredClaims } from '../../domain/issuer-presets.ts';
import { findNamedIssuer, type NamedIssuer } from '../../store/token-federations.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { AuditTarget } from '../audit/audit-log.ts';
import { checkClusterName } from '../kernel/checks.ts';

/** What proves a new service token instead of a value (docs/federation.md). */
export interface NewFederation {
  /** Name of a trusted issuer. */
  readonly issuer: string;
  readonly claims: RequiredClaims;
}

/** A federation whose issuer was found. */
export interface PlannedFederation {
  readonly issuer: NamedIssuer;
  readonly claims: RequiredClaims;
}

/** Throws DomainError invalid_input for a federation with another form. */
export function checkFederation({ issuer, claims }: NewFederation): void {
  checkClusterName('federation.issuer', issuer);
  const fault = validateClaims(claims);
  if (fault === undefined) return;
  throw invalidField(['federation.claims', ...(fault.claim === null ? [] : [fault.claim])].join('.'), fault.message);
}

/**
 * Finds the issuer of a federation, and checks that the claims are enough for it. Throws DomainError invalid_input, and
 * conflict for an issuer that is disabled. The errors say what admins of organizations may see of issuers: their names and
 * presets.
 */
export async function planFederation(
  tx: Transaction,
  { issuer: name, claims }: NewFederation,
): Promise<PlannedFederation> {
  const issuer = await findNamedIssuer(tx, name);
  if (issuer === undefined) {
    throw invalidField(
      'federation.issuer',
      'is no trusted issuer of this server: `keyframe issuer list` shows those that it has, and an instance admin adds one with `keyframe issuer set`',
    );
  }
  if (issuer.isDisabled) {
    throw new DomainError(
      'conflict',
      `trusted issuer ${name} is disabled, since a restore from a backup or a deletion that did not end; an instance admin enables it with \`keyframe issuer set ${name}\``,
    );
  }
  const fault = presetFault(issuer.preset, claims);
  if (fault !== undefined) throw invalidField('federation.claims', fault);
  return { issuer, claims };
}

/** What the audit says of a federation: no values of claims, which users may have misplaced. */
export function auditedFederation({ issuer, claims }: PlannedFederation): AuditTarget {
  return { issuer: issuer.name, issuerGeneration: issuer.generation, claims: Object.keys(claims) };
}

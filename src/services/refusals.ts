import { DomainError } from '../domain/domain-error.ts';
import { type Action, type Decision, type InstanceAction, type PersonAction, rules } from '../domain/policy.ts';
import type { Principal, Role } from '../domain/principal.ts';

/** The texts in which `Access` refuses. */

/** `environment acme/web/prod` */
export function placeOf(slugs: object): string {
  const levels = Object.keys(slugs);
  return `${levels.at(-1)} ${Object.values(slugs).join('/')}`;
}

/** DomainError forbidden for whoever is no instance admin. */
export function instanceRefusal(action: InstanceAction): DomainError {
  return new DomainError('forbidden', `${action} is for instance admins; ask one`);
}

interface Refused {
  readonly place: string;
  readonly decision: Decision;
  readonly role: Role | null;
}

/** DomainError not_found for what is hidden, forbidden for what is denied, saying what it needs. */
export function refusal(principal: Principal, action: Action, { place, decision, role }: Refused): DomainError {
  if (decision === 'hidden') return new DomainError('not_found', `${place} does not exist, or is not visible to you`);
  const needed = rules[action].serviceToken;
  if (principal.type === 'user') {
    const whoMay = rules[action].roles.includes('admin') ? 'an owner or admin' : 'an owner';
    return new DomainError(
      'forbidden',
      `the role ${role} does not allow ${action} on ${place}; ask ${whoMay} of the organization`,
    );
  }
  if (needed === 'never') {
    return new DomainError('forbidden', `no service token allows ${action} on ${place}; use a personal token`);
  }
  return new DomainError('forbidden', `${action} on ${place} needs a service token with permission ${needed}`);
}

/** DomainError forbidden for a service token that asks for what only people have. */
export function personRefusal(action: PersonAction): DomainError {
  return new DomainError('forbidden', `no service token allows ${action}; use a personal token`);
}

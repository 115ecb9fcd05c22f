import { actionLevels, instanceActions, personActions } from '../domain/policy.ts';
import { resourceRules } from '../domain/resource-policy.ts';

/** The actions that this release records in the audit, for the command. The log may hold others of another release. */
export const auditActions: readonly string[] = [
  ...new Set([
    ...Object.keys(actionLevels),
    ...personActions,
    ...instanceActions,
    ...Object.values(resourceRules).flatMap((rules) => Object.keys(rules)),
    'authenticate',
    'me.read',
    'organization.list',
    'user.bootstrap',
  ]),
].sort();

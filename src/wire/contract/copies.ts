import { copyBody, copyView } from '../copies.ts';
import { bodyLimits } from './body-limits.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4.13 */

export const copyEnvironment = endpoint({
  method: 'POST',
  path: '/environments/{org}/{project}/{env}/copy',
  operation: 'copyEnvironment',
  summary: 'Copy secrets from another environment or an earlier revision, or plan the copy',
  input: { body: copyBody, bodyLimits: bodyLimits.keySelection, idempotencyKey: true },
  responses: { 200: copyView },
});

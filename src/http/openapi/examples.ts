import type { z } from 'zod';
import { type OperationExample, examples } from './generated/examples.ts';

/** A keyless token is reinstated. Only the controller creates these, so docs/api.md has no example that works. */
const reinstated = {
  id: '3f2c8d1e-7a4b-4c60-9f15-2b8e6d0a9c34',
  organizationId: '2839bc5b-4227-4900-9c04-cf727dcf58ca',
  name: 'shop',
  scope: 'environment',
  projectId: '76696739-ed1d-4254-afc6-8011d15bfcd9',
  environmentId: 'ca86810a-141f-4699-a4ac-817286f30080',
  permission: 'read',
  createdBy: 'b0a1c2d3-e4f5-4a6b-8c7d-9e0f1a2b3c4d',
  createdByType: 'resource',
  createdByName: 'SecretSync shop/web',
  cluster: null,
  holder: { cluster: 'production', namespace: 'shop' },
  createdAt: '2026-11-21T14:34:53.908Z',
  expiresAt: null,
  revokedAt: null,
  suspendedAt: null,
  lastUsedAt: null,
};

export function exampleOf(operation: string): OperationExample {
  if (operation === 'reinstateServiceToken') {
    return { path: { org: 'acme', id: reinstated.id }, query: {}, response: reinstated };
  }
  if (operation === 'reinstateProjectServiceToken') {
    return { path: { org: 'acme', project: 'shop', id: reinstated.id }, query: {}, response: reinstated };
  }
  return examples[operation] ?? { path: {}, query: {} };
}

/** A media type with an example, if it fits the schema. */
export function withExample(schema: z.ZodType, example: unknown): { schema: z.ZodType; example?: unknown } {
  return example !== undefined && schema.safeParse(example).success ? { schema, example } : { schema };
}

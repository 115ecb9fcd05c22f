import { z } from 'zod';
import type { PresentState, StateQuestion } from '../../domain/changes.ts';
import { codecOf, count, id, mapOf, setOf, strict } from './codec.ts';

/** How many ids one question has. */
export const maxComparedIds = 10_000;

const ids = z.array(id).max(maxComparedIds).optional();

export const stateQuestion = codecOf<StateQuestion>()(
  strict({ environmentIds: ids, credentialIds: ids, serviceTokenIds: ids, keptIds: ids, rulesOf: ids }),
);

export const presentState = codecOf<PresentState>()(
  z.object({
    environments: mapOf(z.string()),
    liveCredentials: setOf(maxComparedIds),
    liveTokens: setOf(maxComparedIds),
    kept: setOf(maxComparedIds),
    clusterState: z.enum(['enabled', 'disabled', 'forgotten']),
    clusterRules: mapOf(count),
  }),
);

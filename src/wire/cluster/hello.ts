import { z } from 'zod';
import type { Hello, HelloAnswer, PortProgram } from '../../domain/clusters.ts';
import { boundedText, codecOf, date, id, strict } from './codec.ts';

/** The answer to a controller that is not in the process of the services. */
export interface RemoteHelloAnswer extends HelloAnswer {
  /** The key of the cluster's fingerprints, in base64; absent if another cluster has the name, or if it is not enabled. */
  readonly fingerprintKey: string | undefined;
}

const issuer = strict({ iss: boundedText(), keys: z.array(z.record(boundedText(100), boundedText(8_192))).max(100) });

export const hello = codecOf<Hello & PortProgram>()(
  strict({
    uid: id,
    isLeading: z.boolean(),
    kinds: z.array(boundedText(100)).max(100),
    issuer: issuer.optional(),
    release: boundedText(100),
    protocol: strict({ min: z.number(), max: z.number() }),
  }),
);

export const helloAnswer = codecOf<RemoteHelloAnswer>()(
  z.object({
    state: z.enum(['enabled', 'disabled', 'forgotten']),
    holder: z.object({ heldBy: z.string(), seenAt: date }).optional(),
    isHome: z.boolean(),
    now: date,
    fingerprintKey: z.base64().optional(),
  }),
);

import { z } from 'zod';

/** Whose report a state is, and how old it may be: the first fields of what a cluster's controller reports. */
export const clusterReport = {
  /** The cluster's name, or the uid of its namespace kube-system. */
  cluster: z.string(),
  /** When the controller had last reported everything; null if it never did. */
  clusterSeenAt: z.iso.datetime().nullable(),
  /** Whether that was more than 3 minutes ago. All else here may then be out of date. */
  stale: z.boolean(),
};

/** How a SecretSync is, as the API reports it (docs/interface.md 4.15). */

/**
 * The state of a SecretSync by its conditions: `ready` is Ready=True, `stalled` is Stalled=True, `progressing` is
 * Reconciling=True, and `suspended` is spec.suspend.
 */
export const syncStates = ['ready', 'progressing', 'stalled', 'suspended'] as const;

export type SyncState = (typeof syncStates)[number];

/** The state of the workloads of a SecretSync; `stalled` if a person must act. */
export const rolloutStates = ['converged', 'progressing', 'stalled', 'suspended'] as const;

export type RolloutState = (typeof rolloutStates)[number];

/** The worse of both: `stalled` if either is, and `healthy` only if the SecretSync is ready and its workloads converged. */
export const healths = ['healthy', 'progressing', 'stalled', 'suspended'] as const;

export type Health = (typeof healths)[number];

import { isFull } from '../fixtures/test-size.ts';

/** The two ways in which a controller reaches the services. */
export const portAdapters = ['in process', 'over HTTPS'] as const;
export type PortAdapter = (typeof portAdapters)[number];

/** Those that a test of crashes or races runs with: by default as the chart does. */
export const adaptersOfRun: readonly PortAdapter[] = isFull ? portAdapters : ['over HTTPS'];

import type { Keyring } from '../../../crypto/keyring.ts';
import { restartPrefix } from '../../annotations.ts';

/** Of `kubectl rollout restart`. */
const restartedAtAnnotation = 'kubectl.kubernetes.io/restartedAt';

/**
 * Tells a pod template from another one, the annotations of restarts aside. It is keyed, for a template may hold values to
 * the letter. `place` binds it to the workload: equal templates of two workloads have different ones. What the API server
 * adds by itself, as after an upgrade, makes another template of it.
 */
export function templateDigest(fingerprint: Keyring['fingerprint'], place: string, template: unknown): string {
  const text = JSON.stringify(template, (key, value: unknown) => canonical(key, value)) ?? '';
  // No Secret's fingerprint has a context with a blank.
  return fingerprint(`pod template of ${place}`, [['template', Buffer.from(text, 'utf8')]]).toString('hex', 0, 16);
}

function canonical(key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([name]) => key !== 'annotations' || !isOfRestart(name));
  if (key === 'annotations' && entries.length === 0) return undefined;
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function isOfRestart(annotation: string): boolean {
  return annotation.startsWith(restartPrefix) || annotation === restartedAtAnnotation;
}

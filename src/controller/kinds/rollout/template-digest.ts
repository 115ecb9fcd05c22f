import { restartPrefix } from '../../annotations.ts';
import type { Fingerprint } from '../../backend/fingerprint.ts';

/** Of `kubectl rollout restart`. */
const restartedAtAnnotation = 'kubectl.kubernetes.io/restartedAt';

/**
 * Identifies a pod template, without the annotations of restarts. It is keyed because a template may contain literal values.
 * `place` binds it to the workload: equal templates of two workloads have different digests. Fields that the API server adds,
 * for example after an upgrade, change the digest.
 */
export function templateDigest(fingerprint: Fingerprint, place: string, template: unknown): string {
  const text = JSON.stringify(template, (key, value: unknown) => canonical(key, value)) ?? '';
  // No fingerprint of a Secret has a context with a space.
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

import { kubeTime } from '../../frame/conditions.ts';
import { restartPrefix } from '../../annotations.ts';
import { shorten } from '../../names.ts';

/** What a restart leaves in a pod template. */
export interface RestartMark {
  /** The revision whose data the pods were restarted for. */
  readonly revision: number;
  /** Identifies that data; see `dataMark`. */
  readonly data: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Whether other workloads wait until this one has converged with it. */
  readonly isAhead?: boolean | undefined;
}

// Kubernetes takes 63 characters for the part of an annotation's name behind the slash. No SecretSync's name has an underscore.
const shortForm = { maxLength: 63, headLength: 40, separator: '_', digestLength: 22 };

/**
 * The annotation of a SecretSync. Two SecretSyncs that restart the same workload use two annotations.
 */
export function markAnnotation(syncName: string): string {
  return `${restartPrefix}${shorten(syncName, shortForm)}`;
}

/**
 * Identifies a Secret's data in an annotation that many may read: half of its keyed fingerprint. Guessed values cannot be
 * checked against it without the key of this installation, and two Secrets with equal data have different marks.
 */
export function dataMark(fingerprint: Buffer): string {
  return fingerprint.toString('hex', 0, 16);
}

/** The value of the annotation: `revision/data/time`, followed by `/ahead` if other workloads wait for this one. */
export function formatMark({ revision, data, at, isAhead = false }: RestartMark): string {
  return `${revision}/${data}/${kubeTime(at)}${isAhead ? '/ahead' : ''}`;
}

const form = /^([0-9]{1,15})\/([0-9a-f]{32})\/([-0-9:TZ]{20})(\/ahead)?$/;

/** Parses an annotation; undefined if there is none, or if it was damaged by hand. */
export function parseMark(text: string | undefined): RestartMark | undefined {
  const [, revision, data, time, ahead] = form.exec(text ?? '') ?? [];
  const at = Date.parse(time ?? '');
  if (data === undefined || Number.isNaN(at)) return undefined;
  return { revision: Number(revision), data, at, ...(ahead === undefined ? {} : { isAhead: true }) };
}

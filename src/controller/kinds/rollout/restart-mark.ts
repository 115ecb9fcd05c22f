import { kubeTime } from '../../frame/conditions.ts';
import { restartPrefix } from '../../annotations.ts';
import { shorten } from '../../names.ts';

/** What a restart leaves in a pod template. */
export interface RestartMark {
  /** The revision whose data the pods were restarted for. */
  readonly revision: number;
  /** Tells that data from other data; see `dataMark`. */
  readonly data: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Whether other workloads wait until this one has converged with it. */
  readonly isAhead?: boolean | undefined;
}

// Kubernetes takes 63 characters for the part of an annotation's name behind the slash. No SecretSync's name has an underscore.
const shortForm = { maxLength: 63, headLength: 40, separator: '_', digestLength: 22 };

/**
 * The annotation of a SecretSync: two that restart one workload have one each.
 */
export function markAnnotation(syncName: string): string {
  return `${restartPrefix}${shorten(syncName, shortForm)}`;
}

/**
 * What stands for a Secret's data in an annotation that many may read: half of its keyed fingerprint. Without the key of
 * this installation nobody can try values against it, and two Secrets of equal data have different ones.
 */
export function dataMark(fingerprint: Buffer): string {
  return fingerprint.toString('hex', 0, 16);
}

/** As the annotation has it: `revision/data/time`, and `/ahead` where others wait for it. */
export function formatMark({ revision, data, at, isAhead = false }: RestartMark): string {
  return `${revision}/${data}/${kubeTime(at)}${isAhead ? '/ahead' : ''}`;
}

const form = /^([0-9]{1,15})\/([0-9a-f]{32})\/([-0-9:TZ]{20})(\/ahead)?$/;

/** Reads an annotation; undefined where there is none, or where it was spoilt by hand. */
export function parseMark(text: string | undefined): RestartMark | undefined {
  const [, revision, data, time, ahead] = form.exec(text ?? '') ?? [];
  const at = Date.parse(time ?? '');
  if (data === undefined || Number.isNaN(at)) return undefined;
  return { revision: Number(revision), data, at, ...(ahead === undefined ? {} : { isAhead: true }) };
}

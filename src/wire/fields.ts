import { z } from 'zod';
import { commentFault, nameFault, secretKeyFault, secretValueFault, slugFault } from '../domain/names.ts';
import { Plaintext } from '../domain/plaintext.ts';

/** Fields that several requests share. Their rules are those of docs/interface.md section 2, kept in domain/names. */

/** The largest number the database keeps for versions and revisions. */
const maxInteger = 2 ** 31 - 1;

export const slug = text(slugFault);
export const name = text(nameFault);
export const comment = text(commentFault);
export const secretKey = text(secretKeyFault);
export const uuid = z.guid({ error: 'must be a UUID' }).transform((id) => id.toLowerCase());
export const secretValue = text(secretValueFault).transform((value) => new Plaintext(value));
export const versionNumber = z.int().min(1).max(maxInteger);
/** A version to expect: 0 stands for «the key must not exist». */
export const expectedVersion = z.int().min(0).max(maxInteger);
/** A moment with its offset from UTC, such as `2027-01-31T12:00:00Z`. */
export const timestamp = z.iso
  .datetime({ offset: true, error: 'must be a time of ISO 8601 with its offset, such as 2027-01-31T12:00:00Z' })
  .transform((moment) => new Date(moment));

/** An integer in a path or query, where everything is text. */
export function integerText(min: number, max = maxInteger): z.ZodType<number, string> {
  const message = `must be an integer from ${min} to ${max}`;
  const parsed = z.string().transform((digits, context) => {
    const value = /^[0-9]{1,10}$/.test(digits) ? Number(digits) : Number.NaN;
    if (value >= min && value <= max) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
  return parsed;
}

/** A string that a rule of domain/names judges: the rule's sentence becomes the fault. */
function text(fault: (candidate: string) => string | undefined): z.ZodType<string, string> {
  return z.string().superRefine((candidate, context) => {
    const message = fault(candidate);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

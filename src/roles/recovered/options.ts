import { z } from 'zod';
import { adminTokenOptions, readOptions } from '../option-reader.ts';

/** The options of the role `recovered`; docs/backup-and-recovery.md explains them. */
export interface RecoveredOptions {
  readonly tokenFile: string;
  /** An e-mail address in lower case; null if the option is not given. */
  readonly admin: string | null;
  /** Null if the option is not given. */
  readonly before: Date | null;
  readonly newInstance: boolean;
}

const moment = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a UTC offset, such as 2027-01-31T12:00:00Z' })
  .transform((text) => new Date(text));

/** Reads the arguments after the role. Throws ExitError, which repeats none of them. */
export function readRecoveredOptions(args: readonly string[]): RecoveredOptions {
  const options = readOptions(args, {
    role: 'recovered',
    shape: { ...adminTokenOptions, before: moment.optional(), 'new-instance': z.boolean().optional() },
    flags: ['new-instance'],
    usage: '--token-file FILE, --admin EMAIL, --before TIME and --new-instance',
  });
  const { 'token-file': tokenFile, admin = null, before = null, 'new-instance': newInstance = false } = options;
  return { tokenFile, admin, before, newInstance };
}

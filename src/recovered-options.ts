import { parseArgs } from 'node:util';
import { emailAddress } from './config.ts';
import { Fault } from './environment-reader.ts';

/** The options of the role `recovered`; docs/backup-and-recovery.md tells what they mean. */
export interface RecoveredOptions {
  readonly tokenFile: string;
  /** An e-mail address in lower case; null where it was not told. */
  readonly admin: string | null;
  /** Null where it was not told. */
  readonly before: Date | null;
}

type Given = { readonly [name in 'token-file' | 'admin' | 'before']?: string };

/** Reads the arguments that follow the role; a Fault that repeats none of them for anything but these options. */
export function readRecoveredOptions(args: readonly string[]): RecoveredOptions | Fault {
  const given = parsed(args);
  if (given === undefined) {
    return new Fault('it takes --token-file FILE, --admin EMAIL and --before TIME; --help tells more');
  }
  const { 'token-file': tokenFile = '', admin: address, before: time } = given;
  if (tokenFile.trim() === '') {
    return new Fault('--token-file: name the file that will be made to hold the new token of an instance admin');
  }
  const admin = address === undefined ? null : emailAddress(address.trim());
  if (admin instanceof Fault) return new Fault(`--admin: ${admin.message}`);
  const before = time === undefined ? null : moment(time);
  if (before instanceof Fault) return new Fault(`--before: ${before.message}`);
  return { tokenFile, admin: admin?.toLowerCase() ?? null, before };
}

function parsed(args: readonly string[]): Given | undefined {
  const type = 'string';
  try {
    return parseArgs({ args: [...args], options: { 'token-file': { type }, admin: { type }, before: { type } } })
      .values;
  } catch {
    return undefined;
  }
}

function moment(text: string): Date | Fault {
  const day = /^([0-9]{4}-[0-9]{2}-[0-9]{2})T[0-9:]{8}(?:\.[0-9]{1,3})?(?:Z|[+-][0-9]{2}:[0-9]{2})$/.exec(text)?.[1];
  const value = new Date(day === undefined ? Number.NaN : text);
  // Of a day that no calendar has, JavaScript makes another.
  const isDay = day !== undefined && new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day.slice(-2));
  return isDay && !Number.isNaN(value.getTime())
    ? value
    : new Fault('must be a time of ISO 8601 with its offset, such as 2027-01-31T12:00:00Z');
}

import { Cron } from 'croner';
import { isTimeZone } from './time-zone.ts';

/** A schedule or time zone that is none; the message says why, as a clause. */
export class CronError extends Error {
  override readonly name = 'CronError';
  /** Which of the two. */
  readonly of: 'schedule' | 'timeZone';

  constructor(of: CronError['of'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.of = of;
  }
}

/** The times of a cron schedule in a time zone, in milliseconds since the epoch. All are whole minutes. */
export interface CronSchedule {
  /** The first time after a moment; undefined where there is none any more. */
  nextAfter(ms: number): number | undefined;
  /** The last time that is not after a moment; undefined where there was none. */
  latestUntil(ms: number): number | undefined;
}

const minuteMs = 60_000;
const macro = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/i;
// Five fields and no more signs than Kubernetes' CronJob and cron(8) have, but for L, the last day of the month.
const anyField = '[0-9A-Za-z*,/-]+';
const fields = new RegExp(`^${anyField} +${anyField} +[0-9Ll*,/-]+ +${anyField} +${anyField}$`);

/**
 * Reads a schedule of five fields (minute, hour, day of the month, month, day of the week) or a name such as `@daily`,
 * after crontab(5), for an IANA time zone. Where the clocks are put forward or back it goes by what cron(8) of Vixie
 * does: a schedule whose minute and hour are plain numbers, lists or ranges keeps its appointments, so that a time that
 * is skipped comes once, right after the gap, and one that occurs twice counts the first time alone; a schedule with `*`
 * or a step in its minute or hour goes on by elapsed time, so that it has as many times on that day as hours there are.
 * Throws CronError for what is no schedule, never comes, or names no time zone.
 */
export function parseCron(text: string, timeZone: string): CronSchedule {
  if (!isTimeZone(timeZone)) {
    throw new CronError('timeZone', `${JSON.stringify(timeZone)} is no IANA time zone such as Europe/Berlin`);
  }
  if (!macro.test(text) && !fields.test(text)) {
    throw new CronError(
      'schedule',
      `${JSON.stringify(text)} is no schedule: five fields with spaces between them, such as "30 2 * * 1-5", or one of @hourly, @daily, @weekly, @monthly, @yearly`,
    );
  }
  const cron = readCron(text, timeZone);
  const schedule: CronSchedule = {
    nextAfter: (ms) => cron.nextRun(new Date(ms))?.getTime(),
    // What is not after a moment is before the next whole minute.
    latestUntil: (ms) => cron.previousRuns(1, new Date((Math.floor(ms / minuteMs) + 1) * minuteMs))[0]?.getTime(),
  };
  if (schedule.nextAfter(0) === undefined) {
    throw new CronError('schedule', `${JSON.stringify(text)} never comes: no month of it has such a day`);
  }
  return schedule;
}

function readCron(text: string, timezone: string): Cron {
  try {
    // A list or range of hours is an appointment, as in cron(8); the library would have it go by elapsed time.
    return new Cron(text, { timezone, paused: true, mode: '5-part', fixedTimeRule: 'no-wildcard' });
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
    throw new CronError('schedule', `${JSON.stringify(text)} is no schedule: ${reason}`, { cause: error });
  }
}

import { Cron } from 'croner';
import { isTimeZone } from './time-zone.ts';

/** An invalid schedule or time zone. The message says why, as a clause. */
export class CronError extends Error {
  override readonly name = 'CronError';
  /** The invalid input. */
  readonly of: 'schedule' | 'timeZone';

  constructor(of: CronError['of'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.of = of;
  }
}

/** The times of a cron schedule in a time zone, in milliseconds since the epoch. All are whole minutes. */
export interface CronSchedule {
  /** The first time after `ms`; undefined if there is none. */
  nextAfter(ms: number): number | undefined;
  /** The last time that is not after `ms`; undefined if there is none. */
  latestUntil(ms: number): number | undefined;
}

const minuteMs = 60_000;
const macro = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/i;
// Five fields with the syntax of CronJob and cron(8), and L for the last day of the month.
const anyField = '[0-9A-Za-z*,/-]+';
const fields = new RegExp(`^${anyField} +${anyField} +[0-9Ll*,/-]+ +${anyField} +${anyField}$`);

/**
 * Parses a schedule of five fields (minute, hour, day of the month, month, day of the week) or a name such as `@daily`, as
 * in crontab(5), for an IANA time zone. Daylight saving time is handled like in Vixie cron:
 *
 * - If minute and hour are numbers, lists or ranges, a skipped time runs once, right after the gap. A time that occurs
 *   twice runs only the first time.
 * - If minute or hour has `*` or a step, the schedule follows elapsed time.
 *
 * Throws CronError for an invalid schedule, a schedule without any time, or an unknown time zone.
 */
export function parseCron(text: string, timeZone: string): CronSchedule {
  if (!isTimeZone(timeZone)) {
    throw new CronError('timeZone', `${JSON.stringify(timeZone)} is not an IANA time zone such as Europe/Berlin`);
  }
  if (!macro.test(text) && !fields.test(text)) {
    throw new CronError(
      'schedule',
      `${JSON.stringify(text)} is not a schedule: use five fields separated by spaces, such as "30 2 * * 1-5", or one of @hourly, @daily, @weekly, @monthly, @yearly`,
    );
  }
  const cron = readCron(text, timeZone);
  const schedule: CronSchedule = {
    nextAfter: (ms) => cron.nextRun(new Date(ms))?.getTime(),
    // Times are whole minutes: a time that is not after `ms` is before the next minute.
    latestUntil: (ms) => cron.previousRuns(1, new Date((Math.floor(ms / minuteMs) + 1) * minuteMs))[0]?.getTime(),
  };
  if (schedule.nextAfter(0) === undefined) {
    throw new CronError('schedule', `${JSON.stringify(text)} never runs: none of its months has such a day`);
  }
  return schedule;
}

function readCron(text: string, timezone: string): Cron {
  try {
    // Lists and ranges of hours are fixed times, as in cron(8). By default, the library would use elapsed time.
    return new Cron(text, { timezone, paused: true, mode: '5-part', fixedTimeRule: 'no-wildcard' });
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
    throw new CronError('schedule', `${JSON.stringify(text)} is not a schedule: ${reason}`, { cause: error });
  }
}

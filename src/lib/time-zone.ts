const zoneName = /^[A-Za-z][A-Za-z0-9_+/-]*$/;

const minuteMs = 60_000;

/** Local date and time. */
export interface LocalTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  /** 0 to 23. */
  readonly hour: number;
  /** Offset from UTC, in minutes. */
  readonly offsetMinutes: number;
}

/** Whether a text names a known IANA time zone, such as Europe/Berlin or UTC. */
export function isTimeZone(text: string): boolean {
  if (!zoneName.test(text)) return false;
  try {
    formatOf(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns a function from milliseconds since the epoch to local time. Throws RangeError for an unknown time zone. */
export function localTimes(timeZone: string): (ms: number) => LocalTime {
  const format = formatOf(timeZone);
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    const [year, month, day, hour, minute] = [part('year'), part('month'), part('day'), part('hour'), part('minute')];
    const shownMs = Date.UTC(year, month - 1, day, hour, minute);
    return { year, month, day, hour, offsetMinutes: shownMs / minuteMs - Math.floor(ms / minuteMs) };
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
}

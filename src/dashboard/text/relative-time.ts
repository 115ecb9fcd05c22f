const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

const format = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/**
 * A distance in milliseconds from now as text, rounded: "3 hours ago", "in 20 minutes". Less than half a minute is "just now",
 * or "in less than a minute".
 */
export function relativeTime(distanceMs: number): string {
  const minutes = Math.round(distanceMs / minuteMs);
  if (minutes === 0) return distanceMs > 0 ? 'in less than a minute' : 'just now';
  if (Math.abs(minutes) < 60) return format.format(minutes, 'minute');
  const hours = Math.round(distanceMs / hourMs);
  if (Math.abs(hours) < 24) return format.format(hours, 'hour');
  return format.format(Math.round(distanceMs / dayMs), 'day');
}

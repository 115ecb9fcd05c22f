/** Server-sent events as text (the HTML standard, section 9.2). */

export interface ServerSentEvent {
  readonly event: string;
  /** Where a reader resumes after this event; absent to leave that unchanged. */
  readonly id?: string;
  readonly data: object;
}

/** Carries no data; it keeps the connection alive. */
export const comment = ':\n\n';

/** Sets how long a reader waits before it reconnects, in milliseconds. */
export function retryText(delayMs: number): string {
  return `retry: ${delayMs}\n\n`;
}

/** An event with JSON data, which contains no raw line break: `JSON.stringify` escapes them. */
export function eventText({ event, id, data }: ServerSentEvent): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return `${idLine}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Whether an Accept header names server-sent events; a wildcard does not. */
export function acceptsEvents(accept: string | undefined): boolean {
  const ranges = (accept ?? '').toLowerCase().split(',');
  return ranges.some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    return type === 'text/event-stream' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

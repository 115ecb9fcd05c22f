/** Server-sent events as text (the HTML standard, section 9.2). */

export interface ServerSentEvent {
  readonly event: string;
  /** Where a reader who got this event goes on; absent to leave it where it was. */
  readonly id?: string;
  readonly data: object;
}

/** Nobody is told anything by it; it shows that the connection lives. */
export const comment = ':\n\n';

/** How long a reader waits before it connects again, in milliseconds. */
export function retryText(delayMs: number): string {
  return `retry: ${delayMs}\n\n`;
}

/** JSON has no line break outside of strings, and escapes those within. */
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

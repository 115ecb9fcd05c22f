import { shownText } from '../../wire/shown-text.ts';

/** A value as a terminal may show it: its lines and tabs as they are, everything else that could move the cursor escaped. */
export function terminalText(value: string): string {
  return value
    .split(/([\n\t])/)
    .map((part) => (part === '\n' || part === '\t' ? part : shownText(part)))
    .join('');
}

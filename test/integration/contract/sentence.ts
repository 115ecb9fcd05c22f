import { type Door, type SentenceNumber, sentences } from './sentences.ts';

/** The name of the test that shows a sentence of the interface by one door: its number and what it says. */
export function sentence(number: SentenceNumber, door: Door): string {
  const [text, ...doors] = sentences[number];
  if (!doors.some((known) => known === door)) throw new Error(`${number} is not to be shown by the door ${door}`);
  return `${number} ${text}`;
}

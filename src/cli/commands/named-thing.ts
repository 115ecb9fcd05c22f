import { CliError, usageError } from '../core/cli-error.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { nearest } from '../core/nearest.ts';

/** Something that has an id and a name, which others may have too. */
export interface NamedThing {
  readonly id: string;
  readonly name: string | null;
  readonly createdAt: string;
}

export interface NamedThings<Thing> {
  /** Newest first. */
  readonly things: readonly Thing[];
  /** What they are: `snapshot`. */
  readonly word: string;
  /** Where they are: `of acme/shop/production`. */
  readonly place: string;
  /** The command that lists them. */
  readonly listedBy: string;
  /** Those that the list has as well, but that this command cannot act on, and why: `is revoked already`. */
  readonly excluded?: { readonly things: readonly Thing[]; readonly because: string };
}

const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
// More would hide the error.
const maxShown = 10;

/** Whether a user gave an id, and not a name. */
export function isId(given: string): boolean {
  return idPattern.test(given);
}

/**
 * The one that a user means by `latest` or by a name.
 *
 * @throws CliError usage if several have the name, not found if none has it.
 */
export function thingOf<Thing extends NamedThing>(given: string, about: NamedThings<Thing>): Thing {
  const { things } = about;
  const found = given === 'latest' ? things.slice(0, 1) : things.filter(({ name }) => name === given);
  const [first, ...others] = found;
  if (first === undefined) throw notFound(given, about);
  if (others.length > 0) throw ambiguous(given, found, about);
  return first;
}

function ambiguous<Thing extends NamedThing>(
  given: string,
  found: readonly Thing[],
  { word, place, listedBy }: NamedThings<Thing>,
): CliError {
  const lines = found.slice(0, maxShown).map(({ id, createdAt }) => `${id}  ${createdAt}`);
  const more = found.length > maxShown ? [`and ${found.length - maxShown} more: ${listedBy}`] : [];
  const message = `${found.length} ${word}s ${place} have the name ${JSON.stringify(given)}; give one of their ids`;
  return usageError(message, ...lines, ...more);
}

function notFound<Thing extends NamedThing>(
  given: string,
  { things, word, place, listedBy, excluded = { things: [], because: '' } }: NamedThings<Thing>,
): CliError {
  const list = `See the ${word}s: ${listedBy}`;
  const fail = (message: string, ...next: string[]): CliError => new CliError(exitCodes.notFound, message, { next });
  if (excluded.things.some(({ name }) => name === given))
    return fail(`${word} ${JSON.stringify(given)} ${place} ${excluded.because}`, list);
  const names = things.flatMap(({ name }) => (name === null ? [] : [name]));
  const similar = nearest(given, names);
  const hints = similar === undefined ? [list] : [`Did you mean ${similar}?`, list];
  if (given !== 'latest') return fail(`no ${word} ${place} has the name ${JSON.stringify(given)}`, ...hints);
  return excluded.things.length === 0
    ? fail(`there is no ${word} ${place}`, ...hints)
    : fail(`each ${word} ${place} ${excluded.because}`, ...hints);
}

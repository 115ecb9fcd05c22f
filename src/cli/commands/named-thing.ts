import { CliError, usageError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { nearest } from '../nearest.ts';

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
export function thingOf<Thing extends NamedThing>(given: string, { things, ...about }: NamedThings<Thing>): Thing {
  const { word, place, listedBy, excluded } = about;
  const found = given === 'latest' ? things.slice(0, 1) : things.filter(({ name }) => name === given);
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined) {
    const lines = found.slice(0, maxShown).map(({ id, createdAt }) => `${id}  ${createdAt}`);
    const more = found.length > maxShown ? [`and ${found.length - maxShown} more: ${listedBy}`] : [];
    throw usageError(
      `${found.length} ${word}s ${place} have the name ${JSON.stringify(given)}; give one of their ids`,
      ...lines,
      ...more,
    );
  }
  if (excluded?.things.some(({ name }) => name === given) === true) {
    const message = `${word} ${JSON.stringify(given)} ${place} ${excluded.because}`;
    throw new CliError(exitCodes.notFound, message, { next: [`See the ${word}s: ${listedBy}`] });
  }
  const similar = nearest(
    given,
    things.flatMap(({ name }) => (name === null ? [] : [name])),
  );
  const none =
    excluded === undefined || excluded.things.length === 0
      ? `there is no ${word} ${place}`
      : `each ${word} ${place} ${excluded.because}`;
  const message = given === 'latest' ? none : `no ${word} ${place} has the name ${JSON.stringify(given)}`;
  throw new CliError(exitCodes.notFound, message, {
    next: [...(similar === undefined ? [] : [`Did you mean ${similar}?`]), `See the ${word}s: ${listedBy}`],
  });
}

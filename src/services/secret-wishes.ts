import { DomainError, type FieldFault, invalidField } from '../domain/domain-error.ts';
import { secretKeyFault, secretValueFault } from '../domain/names.ts';
import type { Plaintext } from '../domain/plaintext.ts';
import type { Wish } from './secret-plan.ts';

const maxFaults = 20;

/**
 * The wishes of a change of several keys. Throws DomainError invalid_input for faulty keys and values, and for a key
 * that is named twice.
 */
export function wishesOf(set: ReadonlyMap<string, Plaintext>, deleted: readonly string[]): Map<string, Wish> {
  const wishes = new Map<string, Wish>();
  const faults = keyFaults('set', [...set.keys()]).concat(keyFaults('delete', deleted));
  refuse(faults);
  refuse(valueFaults([...set].map(([key, value]) => [`set.${key}`, value])));
  for (const [key, value] of set) wishes.set(key, { kind: 'set', value });
  for (const [index, key] of deleted.entries()) {
    const other = wishes.get(key);
    if (other !== undefined) {
      throw invalidField(`delete.${index}`, `${key} is ${other.kind === 'set' ? 'in set as well' : 'named twice'}`);
    }
    wishes.set(key, { kind: 'delete' });
  }
  return wishes;
}

/** Throws DomainError invalid_input for what is no value. */
export function checkValue(field: string, value: Plaintext): void {
  refuse(valueFaults([[field, value]]));
}

/** Tells a faulty key by its place: what is no key may be a misplaced secret. */
function keyFaults(field: string, keys: readonly string[]): FieldFault[] {
  return keys.flatMap((key, index) => {
    const message = secretKeyFault(key);
    return message === undefined ? [] : [{ field, message: `the key of entry ${index + 1} ${message}` }];
  });
}

function valueFaults(values: readonly (readonly [field: string, value: Plaintext])[]): FieldFault[] {
  return values.flatMap(([field, value]) => {
    const message = secretValueFault(value.reveal());
    return message === undefined ? [] : [{ field, message }];
  });
}

function refuse(faults: readonly FieldFault[]): void {
  const [first] = faults;
  if (first === undefined) return;
  const more = faults.length === 1 ? '' : ` (and ${faults.length - 1} more)`;
  throw new DomainError('invalid_input', `${first.field}: ${first.message}${more}`, {
    fields: faults.slice(0, maxFaults),
  });
}

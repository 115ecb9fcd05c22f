import { DomainError } from '../../../../domain/errors/domain-error.ts';
import { shortList } from '../../../names.ts';

/** Why no value is composed: each names the template by its key, and says what to do; never a value. */

/** The text of a template is none; `at` counts characters from 1. */
export function templateInvalid(name: string, at: number, problem: string): DomainError {
  return new DomainError(
    'template_invalid',
    `The template of ${name} is wrong at character ${at}: ${problem}. Nothing is written. Correct spec.template.data.`,
  );
}

/** References without a default name keys that are not there; `composed` are the names of all templates. */
export function templateKeyMissing(
  name: string,
  {
    missing,
    composed,
    keysField,
  }: { readonly missing: readonly string[]; readonly composed: ReadonlySet<string>; readonly keysField: string },
): DomainError {
  const isComposed = missing.some((key) => composed.has(key));
  const hint = isComposed ? ' (A template cannot refer to a key that is composed itself.)' : '';
  return new DomainError(
    'template_key_missing',
    `The template of ${name} refers to keys that the Secret does not get from the environment: ${shortList(missing)}. ` +
      `Nothing is written.${hint} Set them in the environment, choose them in ${keysField} (a renamed key goes by its new ` +
      'name), or say what stands in for them: `$(KEY | default "text")`.',
  );
}

/** A value is not text and stands there as it is. */
export function templateValueBinary(name: string, key: string, keysField: string): DomainError {
  return new DomainError(
    'template_value_binary',
    `The template of ${name} refers to ${key}, whose value is not UTF-8; nothing is written. ` +
      `Write its base64 by \`$(KEY | base64)\`, or take the key out of ${keysField}.decodeBase64.`,
  );
}

/** A composed value alone is more than a Secret holds. */
export function templateTooLarge(name: string, limit: number): DomainError {
  return new DomainError(
    'target_too_large',
    `The template of ${name} comes to more than ${limit} bytes, which is all that a Kubernetes Secret holds; nothing is written. ` +
      'Refer to less in spec.template.data.',
  );
}

/** All composed values together are more than a Secret holds. */
export function templatesTooLarge(limit: number): DomainError {
  return new DomainError(
    'target_too_large',
    `The templates come to more than ${limit} bytes together, which is all that a Kubernetes Secret holds; nothing is written. ` +
      'Refer to less in spec.template.data.',
  );
}

/** The Secret has the key from the environment already. */
export function templateKeyConflict(name: string, keysField: string): DomainError {
  return new DomainError(
    'key_conflict',
    `The Secret gets the key ${name} from the environment, and spec.template.data has it too; nothing is written. ` +
      `Give the template another name, or exclude or rename the key in ${keysField}.`,
  );
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';

/** A sentence, or an error whose detail is one. */
export type Message = string | DomainError;

/** Messages with sample facts, by the name of what makes them: a module's constants and functions. */
export type Samples<Messages> = { readonly [Name in MessageNames<Messages>]: readonly [Message, ...Message[]] };

/** What a module exports as messages: texts, and functions that return a text or an error. */
type MessageNames<Messages> = {
  [Name in keyof Messages]: Messages[Name] extends string
    ? Name
    : Messages[Name] extends (...args: never) => infer Result
      ? Extract<Result, Message> extends never
        ? never
        : Name
      : never;
}[keyof Messages];

const isUpdate = process.env['UPDATE_GOLDEN'] === '1';

/**
 * Compares the messages of a kind with its golden file. A message without a sample fails here, and in the types.
 * `UPDATE_GOLDEN=1` writes the file.
 */
export function expectGolden(kind: string, modules: readonly (readonly [module: object, samples: object])[]): void {
  for (const [module, samples] of modules) {
    const exported = Object.entries(module).filter(
      ([, value]) => typeof value === 'function' || typeof value === 'string',
    );
    expect(Object.keys(samples).toSorted()).toEqual(exported.map(([name]) => name).toSorted());
  }
  const sections = modules.flatMap(([, samples]) =>
    Object.entries(samples).map(([name, messages]) => section(name, messages as readonly Message[])),
  );
  const text = `# Messages of ${kind}\n\n${sections.join('\n')}`;
  const path = join(checkoutDirectory, 'test/unit/controller/golden', `${kind}.md`);
  if (isUpdate) writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, 'utf8'));
}

function section(name: string, messages: readonly Message[]): string {
  return `## ${name}\n\n\`\`\`text\n${messages.map(textOf).join('\n')}\n\`\`\`\n`;
}

function textOf(message: Message): string {
  return message instanceof DomainError ? `${message.code}: ${message.detail}` : message;
}

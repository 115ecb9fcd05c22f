import type { DomainError } from '../../../../domain/errors/domain-error.ts';
import * as messages from '../source-messages.ts';

/** A function that is applied to a value on its way into a composed one. */
export type TemplateStep =
  | { readonly name: PlainFunction }
  | { readonly name: 'default'; readonly text: string }
  /** `json "field"`. */
  | { readonly name: 'field'; readonly field: string };

const plainFunctions = ['base64', 'json', 'quote', 'trim', 'urlencode'] as const;
type PlainFunction = (typeof plainFunctions)[number];

/** A `$(KEY | function …)`. */
export interface TemplateReference {
  readonly key: string;
  readonly steps: readonly TemplateStep[];
}

/** A piece of a template: literal text or a reference. */
export type TemplatePart = string | TemplateReference;

/** The position of a parser in the template of one key. */
interface Cursor {
  readonly name: string;
  readonly text: string;
  at: number;
}

/**
 * The pieces of the template of the key `name`, in order. `$(KEY)` is a reference. Functions may follow the key, each after a
 * `|`. Right before a `(`, two `$` stand for one, so `$$(` is the text `$(`. All other text is literal. Throws DomainError
 * template_invalid with the position. Takes linear time.
 *
 * crds/keyframe.dev_secretsyncs.yaml has the same grammar as one expression.
 */
export function parseTemplate(name: string, text: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  const cursor: Cursor = { name, text, at: 0 };
  for (let opening = text.indexOf('$('); opening !== -1; opening = text.indexOf('$(', cursor.at)) {
    const dollars = dollarsBefore(text, { from: cursor.at, to: opening + 1 });
    const plain = text.slice(cursor.at, opening + 1 - dollars) + '$'.repeat(Math.floor(dollars / 2));
    cursor.at = opening + 2;
    if (dollars % 2 === 0) parts.push(`${plain}(`);
    else parts.push(plain, readReference(cursor));
  }
  parts.push(text.slice(cursor.at));
  return parts.filter((part) => part !== '');
}

/** The number of `$` right before `to`, but not before `from`. */
function dollarsBefore(text: string, { from, to }: { readonly from: number; readonly to: number }): number {
  let first = to;
  while (first > from && text[first - 1] === '$') first -= 1;
  return to - first;
}

/** Reads from behind a `$(` to behind its `)`. */
function readReference(cursor: Cursor): TemplateReference {
  const key = take(cursor, / *([-._a-zA-Z0-9]+) */y);
  if (key === undefined) {
    throw invalid(cursor, messages.keyExpected);
  }
  const steps: TemplateStep[] = [];
  while (take(cursor, /(\|) */y) !== undefined) steps.push(readStep(cursor));
  if (take(cursor, /(\))/y) !== undefined) return { key, steps };
  throw invalid(cursor, messages.endExpected);
}

/** Reads a function and the blanks behind it. */
function readStep(cursor: Cursor): TemplateStep {
  const { at } = cursor;
  const name = take(cursor, /([a-zA-Z0-9_-]{0,32}) */y) ?? '';
  if (name === 'default') return { name, text: readText(cursor, name) };
  if (name === 'json' && cursor.text[cursor.at] === '"') return { name: 'field', field: readText(cursor, name) };
  if (isPlain(name)) return { name };
  throw invalid({ ...cursor, at }, messages.functionExpected(name));
}

function isPlain(name: string): name is PlainFunction {
  return (plainFunctions as readonly string[]).includes(name);
}

/** Reads the text that a function takes, and the blanks behind it. */
function readText(cursor: Cursor, name: string): string {
  const text = take(cursor, /("(?:[^"\\]|\\["\\])*") */y);
  if (text === undefined) throw invalid(cursor, messages.textExpected(name));
  return text.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
}

/** The first group of a sticky expression if it matches at the cursor, which then moves behind the match. */
function take(cursor: Cursor, form: RegExp): string | undefined {
  form.lastIndex = cursor.at;
  const [whole = '', taken] = form.exec(cursor.text) ?? [];
  cursor.at += whole.length;
  return taken;
}

function invalid({ name, text, at }: Cursor, problem: string): DomainError {
  // Counts characters, not UTF-16 units.
  return messages.templateInvalid(name, Array.from(text.slice(0, at)).length + 1, problem);
}

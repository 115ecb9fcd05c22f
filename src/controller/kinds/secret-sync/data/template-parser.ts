import type { DomainError } from '../../../../domain/errors/domain-error.ts';
import * as messages from '../source-messages.ts';

/** What a value goes through on its way into a composed one. */
export type TemplateStep =
  { readonly name: 'base64' | 'json' | 'quote' } | { readonly name: 'default'; readonly text: string };

/** A `$(KEY | function …)`. */
export interface TemplateReference {
  readonly key: string;
  readonly steps: readonly TemplateStep[];
}

/** A piece of a template: text that stands for itself, or a reference. */
export type TemplatePart = string | TemplateReference;

/** Where a parser is in the template of one key. */
interface Cursor {
  readonly name: string;
  readonly text: string;
  at: number;
}

/**
 * The pieces of the template of the key `name`, in their order. `$(KEY)` is a reference; behind the key there may be
 * functions, each behind a `|`. Of `$` right before a `(`, two stand for one, so that `$$(` is the text `$(`; all else
 * stands for itself. Throws DomainError template_invalid, with the place. Takes time in proportion to the text.
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

/** How many `$` stand right before `to`, none of them before `from`. */
function dollarsBefore(text: string, { from, to }: { readonly from: number; readonly to: number }): number {
  let first = to;
  while (first > from && text[first - 1] === '$') first -= 1;
  return to - first;
}

/** Reads on behind a `$(`, to the end of its `)`. */
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

/** Reads a function, to the blanks behind it. */
function readStep(cursor: Cursor): TemplateStep {
  const { at } = cursor;
  const name = take(cursor, /([a-zA-Z0-9_-]{0,32}) */y) ?? '';
  if (name === 'base64' || name === 'json' || name === 'quote') return { name };
  if (name !== 'default') {
    throw invalid({ ...cursor, at }, messages.functionExpected(name));
  }
  const text = take(cursor, /("(?:[^"\\]|\\["\\])*") */y);
  if (text === undefined) {
    throw invalid(cursor, messages.textExpected);
  }
  return { name, text: text.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') };
}

/** The first group of a sticky expression where it fits at the cursor, which then moves behind the whole. */
function take(cursor: Cursor, form: RegExp): string | undefined {
  form.lastIndex = cursor.at;
  const [whole = '', taken] = form.exec(cursor.text) ?? [];
  cursor.at += whole.length;
  return taken;
}

function invalid({ name, text, at }: Cursor, problem: string): DomainError {
  // In characters as people count them.
  return messages.templateInvalid(name, Array.from(text.slice(0, at)).length + 1, problem);
}

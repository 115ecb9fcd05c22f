import { stripVTControlCharacters } from 'node:util';
import { expect } from '@jest/globals';
import type { DocumentedCommand } from '../../support/cli/documented-commands.ts';
import type { RunningCommand } from '../../support/cli/running-command.ts';

/** How one block of a page went. */
export interface BlockEnd {
  /** All that stood on the terminal, with `\n` at the end of its lines. */
  readonly shown: string;
  readonly code: number;
}

const mark = 'end of the block in line';

/**
 * The blocks of a page as one script of bash, as for a reader who copies one after the other into one terminal.
 *
 * @param between what is done after the block in this line of the page
 */
export function sessionScript(
  commands: readonly DocumentedCommand[],
  between: Readonly<Record<number, string>> = {},
): string {
  return commands
    .map(({ line, command }) => `${command}\nprintf '\\n${mark} ${line}: %s\\n' "$?"\n${between[line] ?? ''}\n`)
    .join('');
}

/**
 * Types what the page says that a reader types, at the questions that it shows, and answers by the line in the page how each
 * block went, once all have ended.
 */
export async function followSession(
  running: RunningCommand,
  commands: readonly DocumentedCommand[],
): Promise<Map<number, BlockEnd>> {
  for (const { question, typed } of commands.flatMap(({ answer }) => questionsIn(answer?.text ?? ''))) {
    await running.shows(question);
    running.type(`${typed}\r`);
  }
  const { stdout } = await running.ended;
  const blocks = stripVTControlCharacters(stdout)
    .replaceAll('\r', '')
    .matchAll(new RegExp(`(?<shown>[^]*?)\n${mark} (?<line>\\d+): (?<code>\\d+)\n`, 'g'));
  return new Map(
    Array.from(blocks, ({ groups = {} }) => {
      const { shown = '', line, code } = groups;
      return [Number(line), { shown, code: Number(code) }];
    }),
  );
}

// On a busy machine, a command says so while it waits for the server.
const slowServer = /^Waiting for http:\S+ …\n/gm;

/** Expects that a block showed what the page says, and failed if that is an error. */
export function expectAsDocumented(ends: ReadonlyMap<number, BlockEnd>, { line, answer }: DocumentedCommand): void {
  const expected = answer?.text ?? '';
  const { shown, code } = ends.get(line) ?? { shown: 'it did not come to its end', code: -1 };
  expect(comparableText(shown.replaceAll(slowServer, ''))).toBe(comparableText(expected));
  expect(code === 0).toBe(!/^error: /m.test(expected));
}

function questionsIn(text: string): { question: string; typed: string }[] {
  return Array.from(
    text.matchAll(/^(?<question>.*(?:\[y\/N\]|Type \S+ to continue:)) (?<typed>\S+)$/gm),
    ({ groups }) => ({
      question: groups?.['question'] ?? '',
      typed: groups?.['typed'] ?? '',
    }),
  );
}

/** What is shown, without what differs from run to run and from reader to reader: ids, times, tokens, paths, ports, names. */
function comparableText(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replaceAll(/(?<=^| {2}|: )(?:now|\d+ (?:s|min) ago)(?= {2}|\r?$)/gm, '<time>')
    .replaceAll(/kf_(?:svc|pat)_\w+/g, '<token>')
    .replaceAll(/(?<=^Plan hash: )\S{43}$/gm, '<plan>')
    .replaceAll(/(?<=--cursor )\S+/g, '<cursor>')
    .replaceAll(/127\.0\.0\.1:\d+/g, '<host>')
    .replaceAll(/\/\S*\/(?=keyframe\/config\.json|\.dev\/tutorial)/g, '<path>/')
    .replaceAll(/\S+@(?:localhost|example\.test)/g, '<user>')
    .replaceAll(/ {2,}/g, '  ')
    .trim();
}

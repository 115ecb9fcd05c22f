import { isPrintableAscii } from './printable-ascii.ts';

const shortForms: Readonly<Record<string, string>> = {
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
};

/**
 * A text from the server or a file as a terminal or a page may show it, on one line: characters that could move the cursor, forge a
 * line or turn the writing around are written as escapes.
 */
export function shownText(text: string): string {
  return isPrintableAscii(text) ? text : withEscapes(text);
}

function withEscapes(text: string): string {
  // Control characters, and format characters such as those that turn the direction of writing.
  return text.replace(new RegExp(String.raw`[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]`, 'gu'), (character) => {
    const code = character.codePointAt(0) ?? 0;
    return shortForms[character] ?? String.raw`\u{${code.toString(16)}}`;
  });
}

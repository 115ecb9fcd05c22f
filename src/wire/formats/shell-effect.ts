/** What shells take for a part of one value: bare characters, and text in single or double quotes. \x60 is a backtick. */
const inert = [
  String.raw`[^\s;&|<>()'"\\$\x60]`,
  String.raw`\$(?![({['"])`,
  String.raw`\\[^\n]`,
  "'[^']*'",
  String.raw`"(?:[^"\\$\x60]|\$(?![({[])|\\[^])*"`,
].join('|');
const comment = String.raw`[ \t]+#[^\n]*`;
const inertLine = new RegExp(`^(?:${inert})*(?:${comment})?$`);

/**
 * Whether a shell that loads the line `KEY=text` could do more than set a variable: run a command, or read the next lines
 * as part of this one.
 */
export function runsInShell(text: string): boolean {
  return !inertLine.test(text);
}

/** The first line of a text, and how many more it has. */
export function firstLineOf(text: string): { readonly line: string; readonly more: number } {
  const lines = text.replace(/\r?\n$/, '').split(/\r\n|\r|\n/);
  return { line: lines[0] ?? '', more: lines.length - 1 };
}

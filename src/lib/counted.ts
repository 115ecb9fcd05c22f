/** The number of things with its word: `1 secret`, `2 secrets`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

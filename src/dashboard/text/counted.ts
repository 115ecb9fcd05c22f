/** A number with its noun: "1 key", "2 keys", "10,000 keys". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

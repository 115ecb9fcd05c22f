const mostNamesLength = 200;

/** As many names as there is room for; an Event holds 1024 characters. */
export function shortList(names: readonly string[]): string {
  let length = 0;
  const shown = names.filter((name) => {
    length += name.length + 2;
    return length <= mostNamesLength;
  });
  const rest = names.length - shown.length;
  if (shown.length === 0) return `their names are long`;
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`;
}

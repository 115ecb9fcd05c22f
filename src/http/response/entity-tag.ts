/** Conditional reads: ETag and If-None-Match (RFC 9110 sections 8.8.3 and 13.1.2). */

/** A strong tag made from an id. Ids contain no quotes. */
export function entityTag(id: string): string {
  return `"${id}"`;
}

// Obsolete text (0x80 and above) is allowed in a tag. Lists may have empty members (section 5.6.1).
const listMember = /[ \t]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/**
 * Whether the If-None-Match of a caller contains the tag. `*` matches everything. Weak tags match like strong ones, as the
 * RFC requires. A header that is not a list of tags matches nothing.
 */
export function isKnownTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return tagsOf(ifNoneMatch).includes(tag);
}

/** The tags of a list without their `W/`; none if any part of the text is not a tag. */
function tagsOf(list: string): string[] {
  const tags: string[] = [];
  listMember.lastIndex = 0;
  while (listMember.lastIndex < list.length) {
    const member = listMember.exec(list);
    if (member === null) return [];
    if (member[1] !== undefined) tags.push(member[1]);
  }
  return tags;
}

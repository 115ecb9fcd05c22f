/** The callers of the tables, in the order of the columns. */

/**
 * A caller with a live credential. Members by their role in the organization. Service tokens by scope and permission (r:
 * read, rw: read_write). Users who are not members by the place and the role of a role binding (`role-holders.ts`).
 */
export const actors = [
  'owner',
  'admin',
  'developer',
  'viewer',
  'stranger',
  'instance-admin',
  'organization-r',
  'organization-rw',
  'project-r',
  'project-rw',
  'environment-r',
  'environment-rw',
  'project-admin',
  'project-developer',
  'project-viewer',
  'environment-admin',
  'environment-developer',
  'environment-viewer',
  'organization-group',
  'project-group',
  'environment-group',
  'former-group',
] as const;

export type ActorName = (typeof actors)[number];

/** The cells of a line of a table, by actor. */
export function byActor<Cell>(cells: string, read: (cell: string) => Cell): Record<ActorName, Cell> {
  const each = cells.trim().split(/ +/);
  if (each.length !== actors.length) throw new Error(`${each.length} cells instead of ${actors.length}: ${cells}`);
  return Object.fromEntries(actors.map((actor, index) => [actor, read(each[index] ?? '')])) as Record<ActorName, Cell>;
}

export function linesOf(table: string): string[] {
  return table.split('\n').map((line) => line.trimEnd());
}

/** The roles that serve until they are stopped. */
export const serverRoles = ['all', 'api', 'controller'] as const;
export type ServerRole = (typeof serverRoles)[number];

/** The roles that do one thing and end. */
const taskNames = ['migrate', 'init', 'pre-delete', 'smoke-test', 'recovered', 'admin-token'] as const;

/** Every role of the program, in the order of its help. */
export const roleNames = [...serverRoles, ...taskNames] as const;
export type RoleName = (typeof roleNames)[number];

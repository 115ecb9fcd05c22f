import type { RequestOf } from '../../client/call.ts';
import { auditActions } from '../../wire/audit-actions.ts';

/** Which entries of the audit are shown: those that match all that are not empty. */
export interface AuditFilter {
  /** An action, or a prefix that ends with a dot. */
  readonly action: string;
  /** An id. */
  readonly actor: string;
  readonly actorType: (typeof actorTypes)[number][0];
  /** A span until now, such as `7d`. */
  readonly since: (typeof spans)[number][0];
}

export const actorTypes = [
  ['', 'All actors'],
  ['user', 'Users'],
  ['service_token', 'Service tokens'],
  ['resource', 'Custom resources'],
  ['system', 'The server'],
] as const;

export const spans = [
  ['', 'Any time'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const;

const hourMs = 3_600_000;
const spanMs: Readonly<Record<Exclude<AuditFilter['since'], ''>, number>> = {
  '1h': hourMs,
  '24h': 24 * hourMs,
  '7d': 7 * 24 * hourMs,
  '30d': 30 * 24 * hourMs,
};

/** The filter in the query of an address. What is none of the known ones is left out. */
export function auditFilterOf(get: (name: string) => string): AuditFilter {
  const known = <Value extends string>(name: string, choices: readonly (readonly [Value, string])[]): Value | '' =>
    choices.find(([value]) => value === get(name))?.[0] ?? '';
  return {
    action: actionFault(get('action')) === undefined ? get('action') : '',
    actor: isId(get('actor')) ? get('actor') : '',
    actorType: known('type', actorTypes),
    since: known('since', spans),
  };
}

/** The query for the API. */
export function auditQueryOf(
  { action, actor, actorType, since }: AuditFilter,
  cursor: string,
): RequestOf<'GET /audit'>['query'] {
  return {
    ...(action === '' ? {} : { action }),
    ...(actor === '' ? {} : { actor }),
    ...(actorType === '' ? {} : { actorType }),
    ...(since === '' ? {} : { since: new Date(Date.now() - spanMs[since]).toISOString() }),
    ...(cursor === '' ? {} : { cursor }),
  };
}

/** The command that shows the same. */
export function auditCommand(organization: string | undefined, filter: AuditFilter): string {
  const { action, actor, actorType, since } = filter;
  const flags = { action, actor, 'actor-type': actorType, since };
  const given = Object.entries(flags).flatMap(([flag, value]) => (value === '' ? [] : [`--${flag} ${value}`]));
  return ['keyframe audit', organization === undefined ? '--instance' : `-o ${organization}`, ...given].join(' ');
}

/** What is wrong with a text as an action; undefined if it may be one. */
export function actionFault(text: string): string | undefined {
  if (text === '' || /^[a-z_]{1,32}(?:\.[a-z_]{0,31})?$/.test(text)) return undefined;
  return 'An action is like secret.list, a group of actions like secret. with a dot.';
}

/** Whether the action is unknown, so that the filter may be mistyped. */
export function isUnknownAction(text: string): boolean {
  const isGroup = text.endsWith('.');
  return text !== '' && !auditActions.some((action) => action === text || (isGroup && action.startsWith(text)));
}

/** The actions and their groups, for the field. */
export const actionChoices: readonly string[] = [
  ...new Set(auditActions.flatMap((action) => [action.replace(/\..*$/, '.'), action])),
]
  .filter((action) => action !== '.')
  .toSorted();

/** The id of an actor by its name or id; undefined if it is neither. */
export function actorIdOf(text: string, names: ReadonlyMap<string, string>): string | undefined {
  if (isId(text)) return text.toLowerCase();
  return [...names].find(([, name]) => name.toLowerCase() === text.toLowerCase())?.[0];
}

function isId(text: string): boolean {
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text);
}

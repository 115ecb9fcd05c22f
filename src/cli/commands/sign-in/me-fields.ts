import { placeText } from '../../settings/scope.ts';
import type { MeView } from '../../../wire/me.ts';
import type { ObjectView } from '../../terminal/printer.ts';
import { time } from '../../terminal/time.ts';

/** The identity and permissions of a token, as lines. */
export function meFields(me: MeView): ObjectView['fields'] {
  const expiry = ['Token expires', time(me.expiresAt) ?? 'never'] as const;
  if (me.type === 'user') {
    const roles = me.organizations.map(({ slug, role }) => `${slug} (${role})`).join(', ');
    return [
      ['User', me.name],
      ['Id', me.id],
      ...(me.instanceAdmin ? [['Administrator', 'of the whole server'] as const] : []),
      ['Organizations', roles === '' ? 'none' : roles],
      ...rolesByPlaceField(me.rolesByPlace),
      ...invitationsField(me.waitingInvitations),
      expiry,
    ];
  }
  const place = [me.organization, me.project, me.environment].flatMap((one) => (one === null ? [] : [one.slug]));
  return [
    ['Service token', me.name],
    ['Id', me.id],
    ['Scope', `${me.scope} ${place.join('/')}`],
    ['Permission', me.permission],
    ...(me.federation === undefined ? [] : [['Proved by', `a JWT of trusted issuer ${me.federation.issuer}`] as const]),
    expiry,
  ];
}

function rolesByPlaceField(roles: RolesByPlace): ObjectView['fields'] {
  if (roles.length === 0) return [];
  const shown = roles.map(({ group, role, ...place }) => {
    return `${placeText(place)} (${role}${group === null ? '' : `, through group ${group}`})`;
  });
  return [['Roles by place', shown.join(', ')]];
}

function invitationsField(count: number): ObjectView['fields'] {
  return count === 0 ? [] : [['Invitations', `${count} (see: keyframe invitation list)`]];
}

type RolesByPlace = Extract<MeView, { readonly type: 'user' }>['rolesByPlace'];

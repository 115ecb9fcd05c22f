import { DomainError } from '../../domain/errors/domain-error.ts';
import type { ForeignSignIn } from '../../store/foreign-sign-ins.ts';

// So that the text stays readable.
const maxNamed = 10;

const commands: Readonly<Record<ForeignSignIn['kind'], string>> = {
  session: '`keyframe session end --all`',
  passkey: '`keyframe passkey remove`',
  identity: '`keyframe identity remove`',
  personal_token: '`keyframe token revoke`',
};

/** DomainError conflict: others, who are no instance admins, can sign in as the caller. */
export function foreignSignIns(found: readonly ForeignSignIn[]): DomainError {
  const others = [...new Set(found.map(({ createdByEmail }) => createdByEmail))];
  const sessions = found.filter(({ kind }) => kind === 'session').length;
  const things = [
    ...(sessions === 0 ? [] : [sessions === 1 ? 'a session' : `${sessions} sessions`]),
    ...found.filter(({ kind }) => kind !== 'session').map(textOf),
  ];
  const ends = [...new Set(found.map(({ kind }) => commands[kind]))];
  return new DomainError(
    'conflict',
    `the role would also be that of ${listed(others)} (no instance admin), who can sign in as you with ` +
      `${listed(things)}; end these with ${ends.join(', ')}, then accept`,
  );
}

function textOf({ kind, name }: ForeignSignIn): string {
  if (kind === 'identity') return `the account of ${new URL(name ?? '').host}`;
  return `the ${kind === 'passkey' ? 'passkey' : 'personal token'} "${name}"`;
}

function listed(texts: readonly string[]): string {
  const more = texts.length - maxNamed;
  return [...texts.slice(0, maxNamed), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

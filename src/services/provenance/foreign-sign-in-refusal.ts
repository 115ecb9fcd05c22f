import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Role } from '../../domain/principal.ts';
import { isRaise } from '../../domain/role-changes.ts';
import { type ForeignSignIn, listForeignSignIns } from '../../store/foreign-sign-ins.ts';
import { type Candidate, findCandidate } from '../../store/members.ts';
import type { Transaction } from '../../store/transaction.ts';

// So that the text stays readable.
const maxNamed = 10;

const commands: Readonly<Record<ForeignSignIn['kind'], string>> = {
  session: '`keyframe session end --all`',
  passkey: '`keyframe passkey remove`',
  identity: '`keyframe identity remove`',
  personal_token: '`keyframe token revoke`',
};

/** What a user is about to get. */
export interface Gift {
  readonly userId: string;
  /** The address of the user; null if the user is the caller, who ends each way to sign in themselves. */
  readonly email: string | null;
  /** Such as `the role owner`. */
  readonly what: string;
}

/**
 * Throws DomainError conflict if another user, who is no instance admin, can sign in as a user who is about to get a role:
 * that user would have it too. It names each way to sign in, and what ends it. Lock the user before.
 */
export async function refuseForeignSignIns(tx: Transaction, gift: Gift): Promise<void> {
  const found = await listForeignSignIns(tx, gift.userId);
  if (found.length > 0) throw foreignSignIns(found, gift);
}

/** A change of the role of a user within an organization. */
export interface RoleChange {
  readonly organizationId: string;
  /** The role that the user has at the place; null for none. */
  readonly from: Role | null;
  readonly to: Role;
}

/**
 * As `refuseForeignSignIns`, but only for a role that is higher than the user's, and only for another user who would gain
 * by it: a member of the organization whose own role is as high has nothing more. What an owner has confirmed as the
 * user's own counts as such.
 */
export async function refuseForeignRaise(
  tx: Transaction,
  { id: userId, email, confirmedAt }: Pick<Candidate, 'id' | 'email' | 'confirmedAt'>,
  { organizationId, from, to }: RoleChange,
): Promise<void> {
  if (!isRaise(from, to)) return;
  const all = await listForeignSignIns(tx, userId);
  const found = all.filter(({ createdAt }) => confirmedAt === null || createdAt > confirmedAt);
  const gaining = new Set<string>();
  for (const creatorId of new Set(found.map(({ createdById }) => createdById))) {
    const creator = await findCandidate(tx, organizationId, creatorId);
    const held = creator === undefined || creator.isDisabled ? null : creator.role;
    if (isRaise(held, to)) gaining.add(creatorId);
  }
  const refused = found.filter(({ createdById }) => gaining.has(createdById));
  if (refused.length > 0) throw foreignSignIns(refused, { userId, email, what: `the role ${to}` }, { isMember: true });
}

function foreignSignIns(
  found: readonly ForeignSignIn[],
  { email, what }: Gift,
  { isMember = false }: { readonly isMember?: boolean } = {},
): DomainError {
  const others = [...new Set(found.map(({ createdByEmail }) => createdByEmail))];
  const sessions = found.filter(({ kind }) => kind === 'session').length;
  const things = [
    ...(sessions === 0 ? [] : [sessions === 1 ? 'a session' : `${sessions} sessions`]),
    ...found.filter(({ kind }) => kind !== 'session').map(textOf),
  ];
  const ends = [...new Set(found.map(({ kind }) => commands[kind]))];
  const wayOut =
    email === null
      ? `end these with ${ends.join(', ')}, then accept`
      : `these end when ${email} opens a sign-in link of an instance admin (\`keyframe user sign-in-link ${email}\`)` +
        (isMember ? ', or an owner vouches for them (`keyframe member set --confirm-tokens`)' : '');
  return new DomainError(
    'conflict',
    `${what} would also be for ${listed(others)} (no instance admin), who can sign in as ${email ?? 'you'} with ` +
      `${listed(things)}; ${wayOut}`,
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

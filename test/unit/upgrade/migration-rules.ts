import { createHash } from 'node:crypto';
import { isOlderRelease } from '../../../src/lib/release.ts';
import { type Finding, migrationFindings } from './migration-findings.ts';

export interface MigrationFile {
  readonly name: string;
  readonly sql: string;
}

/** prisma/releases.json: of each release the migrations that came with it, with the SHA-256 of each. */
export type Releases = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * What is wrong with the migrations, as sentences. Those of the first release may do anything, later ones only expand:
 * a pod of the release before works on beside them. What else they do is declared at their head:
 *
 *     -- Contracts: DROP COLUMN secret.note, for servers since 0.2.0
 *     -- Side by side: REPLACE FUNCTION refuse_audit_change: why a server of the release before is right with it
 *
 * A contraction names a release that is out and was so before the migration's own, and the migration's name ends in
 * `_since_0_2_0`, by which older servers know that they cannot work any more. One whose name ends in
 * `_finish_since_0_2_0` waits until an upgrade to 0.2 is finished, so it comes with that release.
 */
export async function migrationFaults(migrations: readonly MigrationFile[], releases: Releases): Promise<string[]> {
  const releaseOf = new Map(
    Object.entries(releases).flatMap(([release, names]) => Object.keys(names).map((name) => [name, release] as const)),
  );
  const [first] = Object.keys(releases);
  const later = migrations.filter(({ name }) => first !== undefined && releaseOf.get(name) !== first);
  const judged = later.map(({ name, sql }) =>
    contentFaults({ name, sql }, earlierReleases(releases, releaseOf.get(name))),
  );
  return [...recordFaults(migrations, releases), ...(await Promise.all(judged)).flat()];
}

/** Those that came out before one release; before the next one if that is undefined. */
function earlierReleases(releases: Releases, release: string | undefined): string[] {
  return Object.keys(releases).filter((other) => release === undefined || isOlderRelease(other, release));
}

/** What came out never changes, and what comes later is applied later. */
function recordFaults(migrations: readonly MigrationFile[], releases: Releases): string[] {
  const recorded = Object.values(releases).flatMap((names) => Object.entries(names));
  const changed = recorded.flatMap(([name, digest]) => {
    const sql = migrations.find((migration) => migration.name === name)?.sql;
    if (sql === undefined) return [`${name} came out with a release and is gone`];
    return createHash('sha256').update(sql).digest('hex') === digest ? [] : [`${name} was changed after it came out`];
  });
  const names = recorded.map(([name]) => name);
  const newest = names.toSorted().at(-1) ?? '';
  const early = migrations.filter(({ name }) => !names.includes(name) && name < newest);
  return [...changed, ...early.map(({ name }) => `${name} comes before ${newest}, which came out without it`)];
}

async function contentFaults({ name, sql }: MigrationFile, earlier: readonly string[]): Promise<string[]> {
  const findings = await migrationFindings(sql);
  const { contracts, sideBySide } = declarations(sql);
  const undeclared = findings.flatMap((finding) => undeclaredFaults(finding, { contracts, sideBySide }));
  const known = new Set(findings.map(({ what }) => what));
  const stale = [...contracts.keys(), ...sideBySide].filter((what) => !known.has(what));
  const isHeldBack = heldBack.test(name);
  const misnamed = [...contracts.values()].flatMap((release) => sinceFaults(release, { isHeldBack, earlier }));
  return [
    ...undeclared,
    ...stale.map((what) => `declares what it does not do: ${what}`),
    ...misnamed,
    ...suffixFaults(name, [...contracts.values()]),
  ].map((fault) => `${name} ${fault}`);
}

const heldBack = /_finish_since_\d+_\d+_\d+$/;

function sinceFaults(
  release: string,
  { isHeldBack, earlier }: { readonly isHeldBack: boolean; readonly earlier: readonly string[] },
): string[] {
  const contracts = `contracts for servers since ${release}`;
  if (!isHeldBack) return earlier.includes(release) ? [] : [`${contracts}, which was not out before it`];
  const isLater = earlier.every((other) => isOlderRelease(other, release)) && release.endsWith('.0');
  return isLater ? [] : [`waits for a finished upgrade, but ${contracts}, which is not the next minor release`];
}

interface Declarations {
  /** What is taken away, and since which release servers do without it. */
  readonly contracts: ReadonlyMap<string, string>;
  readonly sideBySide: ReadonlySet<string>;
}

function declarations(sql: string): Declarations {
  const lines = sql.split('\n');
  const end = lines.findIndex((line) => line.trim() !== '' && !line.startsWith('--'));
  const head = lines.slice(0, end < 0 ? undefined : end);
  const contracts = head.map((line) => /^-- Contracts: (.+), for servers since (\d+\.\d+\.\d+)$/.exec(line));
  const reasons = head.map((line) => /^-- Side by side: ([^:]+): .{20,}$/.exec(line));
  return {
    contracts: new Map(contracts.flatMap((found) => (found === null ? [] : [[found[1] ?? '', found[2] ?? '']]))),
    sideBySide: new Set(reasons.flatMap((found) => found?.[1] ?? [])),
  };
}

function undeclaredFaults({ kind, what }: Finding, { contracts, sideBySide }: Declarations): string[] {
  if (kind === 'contraction') {
    return contracts.has(what) ? [] : [`contracts the schema: ${what}; expand it, and contract in a later release`];
  }
  return sideBySide.has(what) ? [] : [`does what an older server may not bear, and gives no reason: ${what}`];
}

function suffixFaults(name: string, since: readonly string[]): string[] {
  const [newest] = since.toSorted((one, other) => (isOlderRelease(one, other) ? 1 : -1));
  const suffix = /_since_\d+_\d+_\d+$/.exec(name)?.[0];
  const wanted = newest === undefined ? undefined : `_since_${newest.replaceAll('.', '_')}`;
  if (suffix === wanted) return [];
  return [wanted === undefined ? `takes nothing away, so its name must not end in ${suffix}` : `must end in ${wanted}`];
}

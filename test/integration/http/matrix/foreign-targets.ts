import { type ActorName, byActor, linesOf } from './actors.ts';

/** Targets that are not the actor's own, or are not at all. */
export const foreignTargets = [
  'sibling environment',
  'sibling project',
  'foreign organization',
  'missing environment',
  'missing project',
  'missing organization',
  'deleted environment',
  'deleted project',
  'deleted organization',
] as const;

export type ForeignTarget = (typeof foreignTargets)[number];
/** `=`: as on the own target. */
export type ForeignAnswer = number | '=';

/**
 * People have their roles in both organizations that are deleted, and in none of the foreign one. Roles by place are also
 * at each deleted place of their level.
 */
const foreignTable = `
                        role                      service token              role by place
                        member           neither  org.     project  env.     project      environment  group
                        o   a   d   v    str adm  r   rw   r   rw   r   rw   a   d   v    a   d   v    o   p   e   old
sibling environment     =   =   =   =    404 404  =   =    =   =    404 404  =   =   =    404 404 404  =   =   404 404
sibling project         =   =   =   =    404 404  =   =    404 404  404 404  404 404 404  404 404 404  =   404 404 404
foreign organization    404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
missing environment     404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
missing project         404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
missing organization    404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
deleted environment     404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
deleted project         404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
deleted organization    404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
`;

/** A purge is the instance admins' wherever it is, and reveals to no other caller what exists. What lives is not purged. */
const foreignPurges = `
                        role                      service token              role by place
                        member           neither  org.     project  env.     project      environment  group
                        o   a   d   v    str adm  r   rw   r   rw   r   rw   a   d   v    a   d   v    o   p   e   old
sibling environment     403 403 403 403  403 204  403 403  403 403  403 403  403 403 403  403 403 403  403 403 403 403
sibling project         403 403 403 403  403 204  403 403  403 403  403 403  403 403 403  403 403 403  403 403 403 403
foreign organization    403 403 403 403  403 204  403 403  403 403  403 403  403 403 403  403 403 403  403 403 403 403
missing environment     403 403 403 403  403 404  403 403  403 403  403 403  403 403 403  403 403 403  403 403 403 403
missing project         403 403 403 403  403 404  403 403  403 403  403 403  403 403 403  403 403 403  403 403 403 403
missing organization    403 403 403 403  403 404  403 403  403 403  403 403  403 403 403  403 403 403  403 403 403 403
`;

/** An undeletion finds what is deleted, for those who may undelete it. Under something deleted it is a conflict. */
const foreignEnvironmentUndeletions = `
                        role                      service token              role by place
                        member           neither  org.     project  env.     project      environment  group
                        o   a   d   v    str adm  r   rw   r   rw   r   rw   a   d   v    a   d   v    o   p   e   old
sibling environment     =   =   =   =    404 404  =   =    =   =    404 404  =   =   =    404 404 404  =   =   404 404
sibling project         =   =   =   =    404 404  =   =    404 404  404 404  404 404 404  404 404 404  =   404 404 404
foreign organization    404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
missing environment     404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
missing project         404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
missing organization    404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
deleted environment     =   =   404 404  404 404  404 404  404 404  404 404  =   404 404  =   404 404  =   404 404 404
deleted project         409 409 404 404  404 404  404 404  404 404  404 404  409 404 404  409 404 404  409 404 404 404
deleted organization    409 409 404 404  404 404  404 404  404 404  404 404  409 404 404  409 404 404  409 404 404 404
`;

const foreignProjectUndeletions = `
                        role                      service token              role by place
                        member           neither  org.     project  env.     project      environment  group
                        o   a   d   v    str adm  r   rw   r   rw   r   rw   a   d   v    a   d   v    o   p   e   old
sibling project         =   =   =   =    404 404  =   =    404 404  404 404  404 404 404  404 404 404  =   404 404 404
foreign organization    404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
missing project         404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
missing organization    404 404 404 404  404 404  404 404  404 404  404 404  404 404 404  404 404 404  404 404 404 404
deleted project         =   =   404 404  404 404  404 404  404 404  404 404  =   404 404  404 404 404  =   404 404 404
deleted organization    409 409 404 404  404 404  404 404  404 404  404 404  409 404 404  404 404 404  409 404 404 404
`;

/** That of an organization is the instance admins', like a purge. */
const foreignOrganizationUndeletions = `
                        role                      service token              role by place
                        member           neither  org.     project  env.     project      environment  group
                        o   a   d   v    str adm  r   rw   r   rw   r   rw   a   d   v    a   d   v    o   p   e   old
foreign organization    403 403 403 403  403 200  403 403  403 403  403 403  403 403 403  403 403 403  403 403 403 403
missing organization    403 403 403 403  403 404  403 403  403 403  403 403  403 403 403  403 403 403  403 403 403 403
deleted organization    403 403 403 403  403 200  403 403  403 403  403 403  403 403 403  403 403 403  403 403 403 403
`;

/** So is the appointment of a first owner; one that has an owner gets no other this way. */
const foreignOwnerships = `
                        role                      service token              role by place
                        member           neither  org.     project  env.     project      environment  group
                        o   a   d   v    str adm  r   rw   r   rw   r   rw   a   d   v    a   d   v    o   p   e   old
foreign organization    403 403 403 403  403 409  403 403  403 403  403 403  403 403 403  403 403 403  403 403 403 403
missing organization    403 403 403 403  403 404  403 403  403 403  403 403  403 403 403  403 403 403  403 403 403 403
deleted organization    403 403 403 403  403 404  403 403  403 403  403 403  403 403 403  403 403 403  403 403 403 403
`;

/** What a route answers to an actor on a foreign target; undefined if its path cannot name that. */
export function foreignAnswer(path: string, target: ForeignTarget, actor: ActorName): ForeignAnswer | undefined {
  return answersAt(path).get(target)?.[actor];
}

function answersAt(path: string): ReturnType<typeof foreignAnswers> {
  if (path.endsWith('/purge')) return purgeAnswers;
  if (path.endsWith('{env}/undelete')) return environmentUndeletionAnswers;
  if (path.endsWith('{project}/undelete')) return projectUndeletionAnswers;
  if (path.endsWith('{org}/undelete')) return organizationUndeletionAnswers;
  return path.endsWith('/owner') ? ownershipAnswers : tenantAnswers;
}

const tenantAnswers = foreignAnswers(foreignTable);
const purgeAnswers = foreignAnswers(foreignPurges);
const environmentUndeletionAnswers = foreignAnswers(foreignEnvironmentUndeletions);
const projectUndeletionAnswers = foreignAnswers(foreignProjectUndeletions);
const organizationUndeletionAnswers = foreignAnswers(foreignOrganizationUndeletions);
const ownershipAnswers = foreignAnswers(foreignOwnerships);

function foreignAnswers(table: string): ReadonlyMap<string, Readonly<Record<ActorName, ForeignAnswer>>> {
  const entries = linesOf(table).flatMap((line) => {
    const target = foreignTargets.find((name) => line.startsWith(`${name} `));
    const cells = target === undefined ? '' : line.slice(target.length);
    return target === undefined
      ? []
      : [[target, byActor(cells, (cell) => (cell === '=' ? '=' : Number(cell)))] as const];
  });
  return new Map(entries);
}

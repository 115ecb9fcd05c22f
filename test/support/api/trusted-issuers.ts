import { randomUUID } from 'node:crypto';
import type { IssuerPreset } from '../../../src/domain/issuer-presets.ts';
import type { Database } from '../../../src/store/database.ts';
import { prismaOf } from '../database/prisma.ts';

export interface TestIssuer {
  readonly id: string;
  readonly name: string;
}

/** Inserts a trusted issuer, past the services: its keys verify nothing. */
export async function insertIssuer(
  database: Pick<Database, 'pool'>,
  { preset = 'none', name }: { readonly preset?: IssuerPreset; readonly name?: string } = {},
): Promise<TestIssuer> {
  const id = randomUUID();
  const made = { id, name: name ?? `issuer-${id.slice(0, 8)}` };
  const data = { ...made, preset, iss: `https://${made.name}.example.test`, keys: { keys: [] }, maxAgeSeconds: 3_600 };
  await prismaOf(database).trustedIssuer.create({ data: { ...data, algorithms: ['RS256'] } });
  return made;
}

/** Changes an issuer as an instance admin who gives it other keys. */
export async function changeIssuer(database: Pick<Database, 'pool'>, { id }: TestIssuer): Promise<void> {
  const data = { generation: { increment: 1 }, keysVersion: { increment: 1 } };
  await prismaOf(database).trustedIssuer.update({ where: { id }, data });
}

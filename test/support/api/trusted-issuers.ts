import { randomUUID } from 'node:crypto';
import type { IssuerPreset } from '../../../src/domain/issuer-presets.ts';
import { type IssuerAlgorithm, issuerAlgorithms } from '../../../src/domain/trusted-issuers.ts';
import type { Database } from '../../../src/store/database.ts';
import { prismaOf } from '../database/prisma.ts';
import type { JwtSigner } from '../oidc/jwt-signer.ts';

export interface TestIssuer {
  readonly id: string;
  readonly name: string;
  readonly iss: string;
}

export interface NewTestIssuer {
  readonly preset?: IssuerPreset;
  readonly name?: string;
  readonly iss?: string;
  /** Keys that are given by value; none by default, so that nothing verifies. */
  readonly signers?: readonly JwtSigner[];
  /** Where keys are fetched. */
  readonly url?: string;
  readonly ca?: string;
  readonly algorithms?: readonly IssuerAlgorithm[];
  readonly maxAgeSeconds?: number;
}

/** Inserts a trusted issuer, past the services. */
export async function insertIssuer(
  database: Pick<Database, 'pool'>,
  { signers = [], url, ca, algorithms = issuerAlgorithms, maxAgeSeconds = 3_600, ...given }: NewTestIssuer = {},
): Promise<TestIssuer> {
  const id = randomUUID();
  const { preset = 'none', name = `issuer-${id.slice(0, 8)}`, iss = `https://${name}.example.test` } = given;
  const keys = { keys: signers.map(({ jwk }) => jwk as Record<string, string>) };
  const source = url === undefined ? { keys } : { jwksUrl: url, ca: ca ?? null };
  await prismaOf(database).trustedIssuer.create({
    data: { id, name, preset, iss, ...source, algorithms: [...algorithms], maxAgeSeconds },
  });
  return { id, name, iss };
}

/** Changes an issuer as an instance admin who gives it other keys. */
export async function changeIssuer(database: Pick<Database, 'pool'>, { id }: TestIssuer): Promise<void> {
  const data = { generation: { increment: 1 }, keysVersion: { increment: 1 } };
  await prismaOf(database).trustedIssuer.update({ where: { id }, data });
}

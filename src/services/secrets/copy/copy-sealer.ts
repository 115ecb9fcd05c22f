import type { Keyring, Sealer } from '../../../crypto/keyring.ts';
import { DomainError } from '../../../domain/errors/domain-error.ts';
import { limits } from '../../../domain/limits.ts';
import { mapInSlices } from '../../../lib/time-slice.ts';
import type { SealedContent } from '../../../store/secrets.ts';
import type { CopyEnds, PlannedCopy } from './copy-facts.ts';

// The source may grow between the preparation and its lock, and a deadlock repeats the transaction.
const spareSeals = 1_000;

/** Seals the values of a copy for its destination: each version of the source once, however often the transaction is repeated. */
export class CopySealer {
  readonly #sealer: Sealer;
  readonly #destination: CopyEnds['destination'];
  readonly #sealed = new Map<string, SealedContent>();
  #left: number;

  private constructor(sealer: Sealer, destination: CopyEnds['destination'], seals: number) {
    this.#sealer = sealer;
    this.#destination = destination;
    this.#left = seals;
  }

  /** Reserves encryptions for about so many keys. Call it before the transaction. */
  static async prepare(
    keyring: Pick<Keyring, 'sealer'>,
    destination: CopyEnds['destination'],
    keys: number,
  ): Promise<CopySealer> {
    const seals = Math.min(keys, limits.secretsPerEnvironment) + spareSeals;
    return new CopySealer(await keyring.sealer(destination.projectId, seals), destination, seals);
  }

  /** The contents that a copy writes, by key. Throws DomainError conflict if the source has grown by too many keys. */
  async seal({ plan, values }: PlannedCopy): Promise<(key: string) => SealedContent> {
    const written = plan.keys.filter(({ effect }) => effect === 'write');
    const contents = await mapInSlices(written, ({ key, present, source }) => {
      const value = values.get(key);
      if (value === undefined || source === null) throw new Error(`the copy has no value of ${key}`);
      const id = `${present.secretId} ${source.versionId}`;
      const known = this.#sealed.get(id);
      if (known !== undefined) return [key, known] as const;
      if (this.#left === 0) {
        throw new DomainError('conflict', 'the environment to read from has grown meanwhile; try again');
      }
      this.#left -= 1;
      const { organizationId, projectId, environmentId } = this.#destination;
      const content = this.#sealer.seal(
        { organizationId, projectId, environmentId, secretId: present.secretId },
        value,
      );
      this.#sealed.set(id, content);
      return [key, content] as const;
    });
    const byKey = new Map(contents);
    return (key) => {
      const content = byKey.get(key);
      if (content === undefined) throw new Error(`nothing was sealed for ${key}`);
      return content;
    };
  }
}

import {
  authorityFault,
  CertificateError,
  type CertificateFiles,
  type CertificatePair,
  expiryOf,
  readCertificate,
} from '../lib/certificate.ts';
import type { Clock } from '../lib/clock.ts';
import { type Leaf, signLeaf } from './authority.ts';

export interface OwnCertificateOptions {
  /** Of the CA. */
  readonly files: CertificateFiles;
  /** The DNS names of this server. */
  readonly names: readonly string[];
  readonly clock: Pick<Clock, 'now'>;
  /** The variables with these files, for people. */
  readonly variables: { readonly certificate: string; readonly key: string };
}

/**
 * The certificate of this process, which it signs itself with a mounted CA. It is in memory only, and so is its key. Each
 * replica has another one.
 */
export class OwnCertificate {
  readonly #options: OwnCertificateOptions;
  #authority: CertificatePair;
  #leaf: Leaf;

  private constructor(options: OwnCertificateOptions, authority: CertificatePair, leaf: Leaf) {
    this.#options = options;
    this.#authority = authority;
    this.#leaf = leaf;
  }

  /** Throws CertificateError if the CA cannot be used. */
  static async open(options: OwnCertificateOptions): Promise<OwnCertificate> {
    const authority = readCertificate(options.files);
    return new OwnCertificate(options, authority, await sign(options, authority));
  }

  get pair(): CertificatePair {
    return this.#leaf;
  }

  /** The certificate of the CA, in PEM. */
  get authority(): string {
    return this.#authority.cert;
  }

  get authorityExpiresAt(): Date {
    return expiryOf(this.#authority);
  }

  /** Whether the certificate may be shown now. A process that slept may wake after its end. */
  get isValid(): boolean {
    const now = this.#options.clock.now();
    return now >= this.#leaf.validFromMs && now < this.#leaf.expiresAtMs;
  }

  /**
   * Signs a new one if a third of the lifetime is left, if the clock was set back, or if there is another CA. Returns
   * undefined while the present one stays. Throws CertificateError if the CA cannot be used; the present one stays then.
   */
  async renewed(): Promise<CertificatePair | undefined> {
    const authority = readCertificate(this.#options.files);
    const isSame = authority.cert === this.#authority.cert && authority.key === this.#authority.key;
    if (isSame && !this.#isDue()) return undefined;
    this.#leaf = await sign(this.#options, authority);
    this.#authority = authority;
    return this.#leaf;
  }

  #isDue(): boolean {
    const now = this.#options.clock.now();
    const { validFromMs, expiresAtMs } = this.#leaf;
    if (now < validFromMs) return true;
    // A new one would not live longer than the CA.
    const isLast = expiresAtMs === this.authorityExpiresAt.getTime() && now < expiresAtMs;
    return !isLast && expiresAtMs - now < (expiresAtMs - validFromMs) / 3;
  }
}

async function sign({ names, clock, variables }: OwnCertificateOptions, authority: CertificatePair): Promise<Leaf> {
  const now = clock.now();
  const fault = authorityFault(authority, variables.key, now);
  if (fault !== undefined) throw new CertificateError(`${variables.certificate} ${fault}`);
  return signLeaf(authority, names, now);
}

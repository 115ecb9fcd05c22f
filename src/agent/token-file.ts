import { readFileSync } from 'node:fs';
import { DomainError } from '../domain/errors/domain-error.ts';
import { errorFields } from '../observability/logger.ts';

/**
 * The token of this cluster, from its file. It is read at each use, because Kubernetes replaces the file before the token
 * ends. If it cannot be read at that moment, the last token is used.
 */
export class TokenFile {
  readonly #path: string;
  #last: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Throws DomainError cluster_unknown without a token. */
  current(): string {
    try {
      const text = readFileSync(this.#path, 'utf8').trim();
      if (text !== '') this.#last = text;
    } catch (error) {
      if (this.#last === undefined) {
        const { code } = errorFields(error);
        throw new DomainError(
          'cluster_unknown',
          `the file of KEYFRAME_CLUSTER_TOKEN_FILE cannot be read (${String(code)}): mount the token of the cluster there`,
        );
      }
    }
    if (this.#last === undefined) {
      throw new DomainError(
        'cluster_unknown',
        'the file of KEYFRAME_CLUSTER_TOKEN_FILE is empty: mount the token of the cluster there',
      );
    }
    return this.#last;
  }
}

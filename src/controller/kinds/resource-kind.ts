import type { Backend } from '../backend/backend.ts';
import type { GrantIndex } from './access-grant/grant-index.ts';

/** The dependencies of a kind whose resources act in their own name, with the parts of the backend that it asks. */
export interface ResourceKindDeps<P extends keyof Backend> {
  readonly backend: Pick<Backend, P>;
  readonly grants: GrantIndex;
}

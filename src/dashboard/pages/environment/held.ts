import type { HeldDraft } from '../../state/drafts.ts';
import type { Versions } from '../../text/draft.ts';

/** The draft, and the versions of the keys as they are now. */
export interface HeldKeys extends HeldDraft {
  readonly versions: Versions;
}

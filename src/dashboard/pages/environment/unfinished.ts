/** What a panel needs whose text stays when it is closed by Escape or by a click beside it. */
export interface Unfinished<Typed> {
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
  /** Closes the panel and keeps the text for the next time. */
  readonly onClose: () => void;
  /** Closes the panel and forgets the text. */
  readonly onDone: () => void;
}

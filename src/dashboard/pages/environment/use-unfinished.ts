import { useState } from 'react';

/** What a panel needs whose text stays when it is closed by Escape or by a click beside it. */
export interface Unfinished<Typed> {
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
  /** Closes the panel and keeps the text for the next time. */
  readonly onClose: () => void;
  /** Closes the panel and forgets the text. */
  readonly onDone: () => void;
}

/** Keeps the text of a panel that the component shows or not. */
export function useUnfinished<Typed>(empty: Typed, onClose: () => void): Unfinished<Typed> {
  const [typed, onType] = useState(empty);
  const onDone = (): void => {
    onType(empty);
    onClose();
  };
  return { typed, onType, onClose, onDone };
}

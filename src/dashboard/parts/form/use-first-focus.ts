import { type RefObject, useEffect, useRef } from 'react';

/** A ref for the field in which the user goes on: it gets the focus when it appears. */
export function useFirstFocus<Element extends HTMLElement>(): RefObject<Element | null> {
  const element = useRef<Element>(null);
  useEffect(() => element.current?.focus(), []);
  return element;
}

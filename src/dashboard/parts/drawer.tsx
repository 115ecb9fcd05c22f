import { type ReactNode, useCallback, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { useIsChanging } from '../api/use-change.ts';
import { CloseIcon } from './icons.tsx';

export interface DrawerProps {
  readonly title: ReactNode;
  /** Beside the title. */
  readonly actions?: ReactNode;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Stays visible at the bottom. */
  readonly foot?: ReactNode;
}

/**
 * A panel at the right edge, over the page. While it is mounted it is open. The browser keeps the focus in it, closes it at
 * Escape, and gives the focus back. While a change is under way it stays open: closing it would not stop the change, and
 * nothing would report the result.
 */
export function Drawer({ title, actions, wide = false, onClose, children, foot }: DrawerProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isChanging = useIsChanging();
  const close = useCallback(() => {
    if (!isChanging) onClose();
  }, [isChanging, onClose]);
  // Before it leaves the page: closing it later would not give the focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element === null) return undefined;
    element.showModal();
    return () => element.close();
  }, []);
  useEffect(() => {
    const element = dialog.current;
    // A click beside it: all of its content is in the element within. A selection that is dragged out of a field also ends
    // with a click there, and closes nothing.
    let begin: EventTarget | null = null;
    const onDown = (event: PointerEvent): void => void (begin = event.target);
    const onClick = (event: MouseEvent): void => void (event.target === element && begin === element && close());
    element?.addEventListener('pointerdown', onDown);
    element?.addEventListener('click', onClick);
    return () => {
      element?.removeEventListener('pointerdown', onDown);
      element?.removeEventListener('click', onClick);
    };
  }, [close]);
  return (
    <dialog
      ref={dialog}
      className={wide ? 'drawer drawer-wide' : 'drawer'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      // A second Escape in a row closes it without asking.
      onClose={() => isChanging && dialog.current?.showModal()}
    >
      <div className="drawer-body">
        <header className="drawer-head">
          <h2 id={id}>{title}</h2>
          {actions}
          <button
            type="button"
            className="tool"
            aria-label="Close"
            title={isChanging ? 'Wait until the change is done' : 'Close'}
            aria-disabled={isChanging}
            onClick={close}
          >
            <CloseIcon />
          </button>
        </header>
        <div className="drawer-content">{children}</div>
        {foot === undefined ? undefined : <footer className="drawer-foot">{foot}</footer>}
      </div>
    </dialog>
  );
}

import { type ReactNode, useEffect, useRef, useState } from 'react';
import { CopyCommand } from './copy-command.tsx';
import { Notice } from './notice.tsx';
import { useLeaveQuestion } from './use-leave-question.ts';

/** A value that the server returns once: in the page from `show` until it is left, and nowhere else. */
export interface ShownOnce {
  readonly isShown: boolean;
  readonly show: (value: string) => void;
  /** Closes what shows it. If it was not copied, the first call only warns. */
  readonly close: () => void;
  /** The value with its button; undefined before `show`. */
  readonly box: ReactNode;
}

/**
 * @param name what it is, such as "token"
 * @param onClose forgets it, by taking the caller out of the page
 */
export function useShownOnce(name: string, onClose: () => void): ShownOnce {
  const [value, setValue] = useState<string>();
  const [isCopied, setCopied] = useState(false);
  const [isWarned, setWarned] = useState(false);
  const isShown = value !== undefined;
  useLeaveQuestion(isShown && !isCopied);
  return {
    isShown,
    show: (given) => {
      setValue(given);
      setCopied(false);
      setWarned(false);
    },
    close: () => {
      if (!isShown || isCopied || isWarned) onClose();
      else setWarned(true);
    },
    box: isShown ? (
      <Box>
        <p>Copy the {name} now. It is shown only this once, and stored nowhere.</p>
        <CopyCommand name={`the ${name}`} onCopied={() => setCopied(true)}>
          {value}
        </CopyCommand>
        {isWarned && !isCopied ? (
          <Notice>The {name} was not copied, and cannot be shown again. Close once more to leave without it.</Notice>
        ) : undefined}
      </Box>
    ) : undefined,
  };
}

/** Gets the focus, so that it is in view and read to the user. */
function Box({ children }: { readonly children: ReactNode }): ReactNode {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    element.current?.focus({ preventScroll: true });
    element.current?.scrollIntoView({ block: 'center' });
  }, []);
  return (
    <div ref={element} className="shown-once" tabIndex={-1}>
      {children}
    </div>
  );
}

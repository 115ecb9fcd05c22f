import { type ReactNode, useEffect, useRef, useState } from 'react';
import { CheckIcon, CopyIcon } from './icons.tsx';

const copiedMs = 2_000;

export interface CopyCommandProps {
  /** What the command does, for the name of the button. */
  readonly name: string;
  readonly children: string;
}

/** A command for a terminal, with a button that copies it. */
export function CopyCommand({ name, children: command }: CopyCommandProps): ReactNode {
  const [copied, setCopied] = useState(false);
  const code = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(command);
      setCopied(true);
    } catch {
      // Without https there is no clipboard, and a browser may refuse it: the user copies the selection.
      if (code.current !== null) getSelection()?.selectAllChildren(code.current);
    }
  };
  return (
    <div className="command">
      <pre>
        <code ref={code}>{command}</code>
      </pre>
      <button type="button" className="copy" aria-label={`Copy: ${name}`} onClick={() => void copy()}>
        {copied ? <CheckIcon /> : <CopyIcon />}
      </button>
      <output className="visually-hidden">{copied ? 'Copied' : ''}</output>
    </div>
  );
}

import { type ReactNode, useEffect, useState } from 'react';
import { CheckIcon, CopyIcon } from './icons.tsx';

const copiedMs = 2_000;

export interface CopyButtonProps {
  /** Its name for screen readers and its tooltip. */
  readonly name: string;
  /** Copies. Throws if the browser or the server refuses. */
  readonly onCopy: () => Promise<void>;
  readonly onRefused?: (error: unknown) => void;
}

/** A small button that copies something and confirms it for two seconds. */
export function CopyButton({ name, onCopy, onRefused }: CopyButtonProps): ReactNode {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => {
    try {
      await onCopy();
      setCopied(true);
    } catch (error) {
      onRefused?.(error);
    }
  };
  return (
    <>
      <button type="button" className="tool" aria-label={name} title={name} onClick={() => void copy()}>
        {copied ? <CheckIcon /> : <CopyIcon />}
      </button>
      <output className="visually-hidden">{copied ? 'Copied' : ''}</output>
    </>
  );
}

import { type ReactNode, useRef } from 'react';
import { CopyButton } from './copy-button.tsx';

export interface CopyCommandProps {
  /** What the command does, for the name of the button. */
  readonly name: string;
  readonly children: string;
  readonly onCopied?: () => void;
}

/** A command for a terminal, with a button that copies it. */
export function CopyCommand({ name, children: command, onCopied }: CopyCommandProps): ReactNode {
  const code = useRef<HTMLElement>(null);
  // Without https there is no clipboard, and a browser may refuse it: the user copies the selection.
  const select = (): void => void (code.current !== null && getSelection()?.selectAllChildren(code.current));
  return (
    <div className="command">
      <pre>
        <code ref={code}>{command}</code>
      </pre>
      <CopyButton
        name={`Copy: ${name}`}
        onCopy={async () => {
          await navigator.clipboard.writeText(command);
          onCopied?.();
        }}
        onRefused={select}
      />
    </div>
  );
}

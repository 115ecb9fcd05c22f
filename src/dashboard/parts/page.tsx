import { type ReactNode, useEffect, useRef } from 'react';
import { NavigationType, useNavigationType } from 'react-router';

export interface PageProps {
  readonly title: string;
  readonly intro?: ReactNode;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

/** A page in the frame. Its heading gets the focus after a navigation, so that a screen reader reads it. */
export function Page({ title, intro, actions, children }: PageProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  const navigation = useNavigationType();
  useTitle(title);
  useEffect(() => {
    if (navigation !== NavigationType.Pop) heading.current?.focus();
  }, [navigation]);
  return (
    <main id="content" className="page">
      <header className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {intro === undefined ? undefined : <p className="intro">{intro}</p>}
        </div>
        {actions === undefined ? undefined : <div className="actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}

/** Sets the title of the document. It never holds names or values of secrets. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Keyframe`;
  }, [title]);
}

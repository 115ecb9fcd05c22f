import { type ReactNode, useEffect, useRef } from 'react';
import { NavigationType, useNavigationType } from 'react-router';

export interface PageProps {
  readonly title: string;
  /** Title of the document, if pages with the same heading must be distinguished. */
  readonly documentTitle?: string;
  readonly intro?: ReactNode;
  /** What the title is part of, above it. */
  readonly trail?: ReactNode;
  /** Of tables, which take more room than text. */
  readonly wide?: boolean;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

/** A page in the frame. Its heading gets the focus after a navigation, so that a screen reader reads it. */
export function Page({
  title,
  documentTitle = title,
  intro,
  trail,
  wide = false,
  actions,
  children,
}: PageProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  const navigation = useNavigationType();
  useTitle(documentTitle);
  useEffect(() => {
    if (navigation !== NavigationType.Pop) heading.current?.focus();
  }, [navigation]);
  return (
    <main id="content" className={wide ? 'page page-wide' : 'page'}>
      <header className="page-head">
        <div className="page-title">
          {trail === undefined ? undefined : <p className="trail">{trail}</p>}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {intro === undefined ? undefined : <div className="intro">{intro}</div>}
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

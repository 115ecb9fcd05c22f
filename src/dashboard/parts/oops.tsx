import { Component, type ReactNode } from 'react';

/** Shows a sentence in place of a page that failed to render. The error itself may hold what a page showed, so it is not shown. */
export class Oops extends Component<{ readonly children: ReactNode }, { readonly failed: boolean }> {
  override readonly state = { failed: false };

  static getDerivedStateFromError(): { readonly failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <main className="oops">
        <h1>This page failed</h1>
        <p>Reload it. If that does not help, report it with the release of your server.</p>
        <a className="button button-primary" href="/">
          Reload
        </a>
      </main>
    );
  }
}

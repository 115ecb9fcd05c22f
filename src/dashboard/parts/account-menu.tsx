import { type ReactNode, useId, useRef } from 'react';
import { Link } from 'react-router';
import { dashboardPaths } from '../../wire/dashboard-paths.ts';
import { Button } from './button.tsx';
import { ChevronIcon } from './icons.tsx';
import { Notice } from './notice.tsx';

export interface AccountMenuProps {
  readonly name: string;
  readonly isAdmin: boolean;
  /** How many wait. */
  readonly invitations: number;
  readonly busy: boolean;
  readonly error: string | undefined;
  readonly onSignOut: () => void;
}

/** Who is signed in, behind a button of the header. The browser closes it at Escape and at a click elsewhere. */
export function AccountMenu({ name, isAdmin, invitations, busy, error, onSignOut }: AccountMenuProps): ReactNode {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  return (
    <div className="account">
      <button type="button" className="account-button" popoverTarget={id}>
        <span className="avatar" aria-hidden="true">
          {name.charAt(0)}
        </span>
        <span className="visually-hidden">Account: </span>
        <span className="account-name">{name}</span>
        <ChevronIcon />
      </button>
      <div ref={menu} id={id} popover="auto" className="menu">
        <p className="menu-head">
          <strong>{name}</strong>
          {isAdmin ? <span className="muted">Instance admin</span> : undefined}
        </p>
        <Link className="menu-item" to={dashboardPaths.sessions} onClick={() => menu.current?.hidePopover()}>
          Sessions
        </Link>
        <Link className="menu-item" to={dashboardPaths.signInMethods} onClick={() => menu.current?.hidePopover()}>
          Sign-in methods
        </Link>
        <Link className="menu-item" to={dashboardPaths.invitations} onClick={() => menu.current?.hidePopover()}>
          Invitations{invitations === 0 ? '' : ` (${invitations})`}
        </Link>
        <Link className="menu-item" to={dashboardPaths.firstSteps} onClick={() => menu.current?.hidePopover()}>
          Get started
        </Link>
        {isAdmin ? (
          <Link className="menu-item" to={dashboardPaths.instanceAudit} onClick={() => menu.current?.hidePopover()}>
            Audit of the instance
          </Link>
        ) : undefined}
        <a className="menu-item" href="/docs">
          Documentation
        </a>
        <a className="menu-item" href="/docs/api">
          HTTP interface
        </a>
        {error === undefined ? undefined : <Notice>{error}</Notice>}
        <div className="menu-end">
          <Button look="plain" busy={busy} onClick={onSignOut}>
            Sign out
          </Button>
        </div>
      </div>
    </div>
  );
}

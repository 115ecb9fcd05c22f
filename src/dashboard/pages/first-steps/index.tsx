import type { ReactNode } from 'react';
import { useMe } from '../../api/me.ts';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { firstCommands } from '../../text/first-commands.ts';
import { organizationsOf } from '../../text/organizations.ts';

/** What a new user does first: get the command, store a secret, and see it in a cluster. */
export function FirstStepsPage({ organization }: { readonly organization?: string }): ReactNode {
  const { data: user } = useMe();
  const known = organization ?? (user === undefined ? undefined : organizationsOf(user)[0]);
  const instanceAdmin = user?.instanceAdmin ?? false;
  const commands = firstCommands(window.location.origin, { organization: known, instanceAdmin });
  const isOutside = user !== undefined && known === undefined && !instanceAdmin;
  return (
    <Page
      title="Get started"
      intro="Four steps to a Secret in your cluster that follows each change. Run them in a terminal."
    >
      <ol className="steps">
        <Step title="Get the command">
          <p>One file for Linux and macOS. It needs Node.js 20.16 or newer.</p>
          <CopyCommand name="Get the command">{commands.download}</CopyCommand>
        </Step>
        <Step title="Sign in with it">
          <p>
            It opens this dashboard, in which you approve the sign-in. Without a browser, it prompts for a personal
            token.
          </p>
          <CopyCommand name="Sign in with it">{commands.signIn}</CopyCommand>
        </Step>
        <Step title="Store a secret">
          <p>A project has environments, and each environment keeps every version of its secrets.</p>
          {isOutside ? (
            <Notice kind="info">You have no role in an organization yet. Ask an admin for one; here it is acme.</Notice>
          ) : undefined}
          <CopyCommand name="Store a secret">{commands.store}</CopyCommand>
        </Step>
        <Step title="Connect a cluster">
          <p>
            An AccessGrant allows a namespace to read the environment. The SecretSync then keeps the Kubernetes Secret{' '}
            <code>web</code> up to date. Apply both in the cluster in which Keyframe is installed.
          </p>
          <CopyCommand name="Connect a cluster">{commands.connect}</CopyCommand>
        </Step>
      </ol>
    </Page>
  );
}

function Step({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <li className="step">
      <h2>{title}</h2>
      {children}
    </li>
  );
}

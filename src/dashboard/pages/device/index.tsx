import { type ComponentProps, type ReactNode, useState } from 'react';
import type { WaitingDeviceView } from '../../../wire/command-logins.ts';
import { useApproveDevice, useFindDevice } from '../../api/command-logins.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { Refusal } from '../../parts/refusal.tsx';

/** Approves a command on another machine: the user types its code, sees where it runs, and approves it. */
export function DevicePage(): ReactNode {
  const [code, setCode] = useState('');
  const found = useFindDevice();
  const approved = useApproveDevice();
  const error = approved.error ?? found.error;
  return (
    <Page
      title="Sign in a device"
      intro="A keyframe command on another machine shows a code. Type it here to give the command a personal token. It ends after 30 days."
    >
      <Refusal error={error} />
      {approved.isSuccess ? (
        <Notice kind="info">Approved. The command continues within a few seconds.</Notice>
      ) : found.data === undefined ? (
        <CodeForm busy={found.isPending} code={code} onChange={setCode} onSubmit={() => found.mutate(code)} />
      ) : (
        <Device
          device={found.data}
          busy={approved.isPending}
          onApprove={() => approved.mutate(code)}
          onCancel={() => {
            setCode('');
            approved.reset();
            found.reset();
          }}
        />
      )}
    </Page>
  );
}

interface CodeFormProps {
  readonly busy: boolean;
  readonly code: string;
  readonly onChange: (code: string) => void;
  readonly onSubmit: () => void;
}

function CodeForm({ busy, code, onChange, onSubmit }: CodeFormProps): ReactNode {
  const submit: ComponentProps<'form'>['onSubmit'] = (event) => {
    event.preventDefault();
    if (!busy && code.trim() !== '') onSubmit();
  };
  return (
    <form className="panel" onSubmit={submit}>
      <div className="code-field">
        <TextField
          label="Code"
          value={code}
          onChange={onChange}
          placeholder="XXXX-XXXX"
          maxLength={32}
          isExact
          autoCapitalize="characters"
          isMono
          required
        />
      </div>
      <Button look="primary" type="submit" busy={busy}>
        Continue
      </Button>
    </form>
  );
}

interface DeviceProps {
  readonly device: WaitingDeviceView;
  readonly busy: boolean;
  readonly onApprove: () => void;
  readonly onCancel: () => void;
}

function Device({ device, busy, onApprove, onCancel }: DeviceProps): ReactNode {
  return (
    <div className="panel">
      <p>
        The command began <Moment at={device.createdAt} />, at the address{' '}
        <strong className="mono">{device.sourceAddress ?? 'unknown'}</strong>. Approve it only if you have just run it
        there.
      </p>
      <div className="dialog-buttons">
        <Button busy={busy} onClick={onCancel}>
          Cancel
        </Button>
        <Button look="primary" busy={busy} onClick={onApprove}>
          Approve
        </Button>
      </div>
    </div>
  );
}

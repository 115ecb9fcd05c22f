import type { ReactNode } from 'react';
import { Loaded } from '../../parts/loaded.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Secrets } from './secrets.tsx';
import { type EnvironmentFacts, EnvironmentShell } from './shell.tsx';

/** The keys of an environment. Other users' changes appear by themselves. */
export function EnvironmentPage(): ReactNode {
  return <EnvironmentShell>{(facts) => <Keys {...facts} />}</EnvironmentShell>;
}

function Keys({ place, keys, user, rights }: EnvironmentFacts): ReactNode {
  return (
    <Loaded query={keys} waiting={<Skeleton name="Loading the keys" rows={10} look="tall" />}>
      {(list) => <Secrets place={place} list={list} rights={rights} userId={user?.id ?? ''} />}
    </Loaded>
  );
}

import { type ReactNode, useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { findServiceToken, type ListedToken } from '../../api/service-tokens.ts';
import { FilterField } from '../../parts/form/filter-field.tsx';
import { Notice } from '../../parts/notice.tsx';
import type { Filters } from '../../parts/use-filters.ts';

export interface TokenSearch {
  readonly field: ReactNode;
  /** Why a pasted token is not opened. */
  readonly report: ReactNode;
}

/**
 * The field that filters the list. A pasted token is no filter: the server is asked once which token it is, and that one
 * opens. Its text leaves the field at once, and is in no state and no address of the page.
 */
export function useTokenSearch(list: readonly ListedToken[], filters: Filters): TokenSearch {
  const [report, setReport] = useState<ReactNode>();
  const find = async (text: string): Promise<void> => {
    setReport(undefined);
    const value = /kf_svc_\w+/.exec(text)?.[0];
    if (value === undefined) {
      setReport(
        <>
          This is not a service token. The owner of a personal token revokes it with <code>keyframe token revoke</code>.
        </>,
      );
      return;
    }
    try {
      const { id, name, organization } = await findServiceToken(value);
      if (list.some((token) => token.id === id)) filters.set({ token: id, q: '' });
      else setReport(`This is the token ${name} of ${organization.slug}, which is not in this list.`);
    } catch (error) {
      setReport(error instanceof ApiError && error.status !== 401 ? error.message : endedText);
    }
  };
  return {
    field: (
      <FilterField
        name="Filter, or paste a leaked token"
        value={filters.get('q')}
        onChange={(q) => filters.set({ q })}
        onToken={(text) => void find(text)}
      />
    ),
    report: report === undefined ? undefined : <Notice>{report}</Notice>,
  };
}

const endedText =
  'The server accepts no token with this value. It was revoked or rotated, it has expired, or its text is not complete.';

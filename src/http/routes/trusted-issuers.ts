import type { TrustedIssuerRecord } from '../../services/issuers/trusted-issuers.ts';
import {
  deleteTrustedIssuer,
  getTrustedIssuer,
  listIssuerNames,
  listTrustedIssuers,
  setTrustedIssuer,
} from '../../wire/contract/trusted-issuers.ts';
import type { ListedIssuerView, TrustedIssuerView } from '../../wire/trusted-issuers.ts';
import { instanceRoute, organizationRoute, type Route } from '../route.ts';

/** docs/interface.md 4.19. */
export const trustedIssuerRoutes: readonly Route[] = [
  instanceRoute({
    ...listTrustedIssuers,
    action: 'trusted_issuer.list_all',
    async handle({ trustedIssuers }, access) {
      const list = await trustedIssuers.list(access);
      return { status: 200, body: { trustedIssuers: list.map(listedViewOf), nextCursor: null } };
    },
  }),
  instanceRoute({
    ...getTrustedIssuer,
    action: 'trusted_issuer.list_all',
    async handle({ trustedIssuers }, access, { params }) {
      return { status: 200, body: viewOf(await trustedIssuers.get(access, params.name)) };
    },
  }),
  instanceRoute({
    ...setTrustedIssuer,
    action: 'trusted_issuer.set',
    async handle({ trustedIssuers }, access, { params, body }) {
      return { status: 200, body: viewOf(await trustedIssuers.set(access, params.name, body)) };
    },
  }),
  instanceRoute({
    ...deleteTrustedIssuer,
    action: 'trusted_issuer.delete',
    async handle({ trustedIssuers }, access, { params, query }) {
      await trustedIssuers.delete(access, params.name, query);
      return { status: 204 };
    },
  }),
  organizationRoute({
    ...listIssuerNames,
    action: 'trusted_issuer.list',
    async handle({ trustedIssuers }, access) {
      const list = await trustedIssuers.names(access);
      const names = list.map(({ disabledAt, ...issuer }) => ({ ...issuer, isDisabled: disabledAt !== null }));
      return { status: 200, body: { trustedIssuers: names, nextCursor: null } };
    },
  }),
];

function listedViewOf({
  id: _id,
  keys: _keys,
  ca: _ca,
  fetchedAt,
  fetchFailedAt,
  disabledAt,
  createdAt,
  changedAt,
  ...issuer
}: TrustedIssuerRecord): ListedIssuerView {
  return {
    ...issuer,
    algorithms: [...issuer.algorithms],
    fetchedAt: fetchedAt?.toISOString() ?? null,
    fetchFailedAt: fetchFailedAt?.toISOString() ?? null,
    disabledAt: disabledAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    changedAt: changedAt.toISOString(),
  };
}

function viewOf(issuer: TrustedIssuerRecord): TrustedIssuerView {
  return { ...listedViewOf(issuer), keys: issuer.keys?.keys.map((key) => ({ ...key })) ?? null, ca: issuer.ca };
}

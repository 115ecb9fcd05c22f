import type { ApiCall } from '../../../src/kube/client/client.ts';
import type { AnyObject } from './fake-cluster.ts';

interface Manager {
  readonly manager: string;
  readonly operation: 'Apply';
  readonly fieldsV1: { readonly 'f:data': Readonly<Record<string, object>> };
}

/** As much of a server-side apply as concerns the keys of a Secret that no other manager holds. */
export function applied({ body, query = {} }: ApiCall, before: AnyObject): AnyObject {
  const { metadata, data: wanted = {} } = body as AnyObject & { readonly data?: Readonly<Record<string, string>> };
  const manager = query['fieldManager'] ?? '';
  const managers = (before.metadata as { readonly managedFields?: readonly Manager[] }).managedFields ?? [];
  const held = managers.find((one) => one.manager === manager)?.fieldsV1['f:data'] ?? {};
  const kept = Object.entries((before['data'] ?? {}) as Record<string, string>).filter(
    ([key]) => !Object.hasOwn(held, `f:${key}`),
  );
  const own: Manager = {
    manager,
    operation: 'Apply',
    fieldsV1: { 'f:data': Object.fromEntries(Object.keys(wanted).map((key) => [`f:${key}`, {}])) },
  };
  const annotations = { ...before.metadata.annotations, ...metadata.annotations };
  const managedFields = [...managers.filter((one) => one.manager !== manager), own];
  return {
    ...before,
    metadata: { ...before.metadata, annotations, managedFields },
    data: { ...Object.fromEntries(kept), ...wanted },
  };
}

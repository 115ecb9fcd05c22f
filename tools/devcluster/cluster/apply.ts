import type { KubeHttp, KubeObject } from './kube-http.ts';

/** Server-side apply of one object, so that it is the same whether or not it was there before. */
export async function apply<T = KubeObject>(client: KubeHttp, path: string, body: object): Promise<T> {
  return client.json<T>({
    method: 'PATCH',
    path: `${path}?fieldManager=keyframe-install&force=true`,
    body,
    contentType: 'application/apply-patch+yaml',
  });
}

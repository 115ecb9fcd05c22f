import type { ServiceTokenView } from '../../wire/service-tokens.ts';

/** How a workload gets JWTs that prove a token. */
interface Usage {
  readonly text: string;
  /** What to put into the definition of the job or the pod. */
  readonly lines?: string;
}

/** A ServiceToken of a cluster is proven by its ServiceAccounts. */
export function usageOf({ cluster }: Pick<ServiceTokenView, 'cluster'>, audience: string): Usage {
  if (cluster === null) {
    return {
      text: 'Let the workload request a JWT of the issuer whose only audience is this one. The command takes it from KEYFRAME_TOKEN, or from the file that KEYFRAME_TOKEN_FILE names. A job of GitHub Actions needs KEYFRAME_AUDIENCE instead.',
    };
  }
  return {
    text: 'Add this volume to the pod, mount it, and set KEYFRAME_TOKEN_FILE to the path of the file “token” in it.',
    lines: `volumes:\n  - name: keyframe\n    projected:\n      sources:\n        - serviceAccountToken:\n            audience: ${audience}\n            path: token`,
  };
}

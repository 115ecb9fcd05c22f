import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the stand-in answers. */
export interface KubectlAnswers {
  readonly discovery: object;
  readonly jwks: object;
  readonly uid: string;
}

/** Puts a `kubectl` into a folder that answers what `cluster create` asks, and fails for another context than `context`. */
export function writeKubectl(folder: string, context: string, { discovery, jwks, uid }: KubectlAnswers): void {
  const script = [
    '#!/bin/sh',
    '[ -z "$KEYFRAME_TOKEN$KEYFRAME_TOKEN_FILE" ] || { echo "got a token" >&2; exit 9; }',
    `[ "$1" = "--context=${context}" ] || { echo "error: context $1 does not exist" >&2; exit 1; }`,
    'case "$*" in',
    `*" --raw /.well-known/openid-configuration") echo '${JSON.stringify(discovery)}' ;;`,
    `*" --raw /openid/v1/jwks") echo '${JSON.stringify(jwks)}' ;;`,
    `*" get namespace kube-system "*) printf %s '${uid}' ;;`,
    '*) echo "unexpected: $*" >&2; exit 2 ;;',
    'esac',
  ];
  const path = join(folder, 'kubectl');
  writeFileSync(path, `${script.join('\n')}\n`);
  chmodSync(path, 0o755);
}

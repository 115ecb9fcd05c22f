#!/usr/bin/env bash
# Downloads the command from KEYFRAME_URL, and sets KEYFRAME_URL and KEYFRAME_AUDIENCE for later steps.
set -euo pipefail

[[ $KEYFRAME_URL =~ ^https?://[^[:space:]]+$ ]] || { echo '::error::url must be the address of a Keyframe server'; exit 1; }
# Over plain http, others could replace the program that the job runs. The command itself has the same rule.
loopback='^http://(localhost|127\.[0-9.]+|\[::1\])(:[0-9]+)?(/|$)'
if [[ $KEYFRAME_URL == http:* && ! $KEYFRAME_URL =~ $loopback && ${KEYFRAME_INSECURE_HTTP:-} != 1 ]]; then
  echo '::error::url must begin with https://'
  exit 1
fi
[[ $KEYFRAME_AUDIENCE =~ ^[^[:space:]]*$ ]] || { echo '::error::audience must be one word'; exit 1; }

folder=$RUNNER_TEMP/keyframe-command
mkdir -p "$folder"
cd "$folder"
curl -fsSL --proto-redir =https -o keyframe "${KEYFRAME_URL%/}/cli"
curl -fsSL --proto-redir =https "${KEYFRAME_URL%/}/cli.sha256" | sha256sum --check --quiet
chmod +x keyframe
./keyframe --version

echo "$folder" >> "$GITHUB_PATH"
echo "KEYFRAME_URL=$KEYFRAME_URL" >> "$GITHUB_ENV"
if [[ -n $KEYFRAME_AUDIENCE ]]; then echo "KEYFRAME_AUDIENCE=$KEYFRAME_AUDIENCE" >> "$GITHUB_ENV"; fi

#!/usr/bin/env bash
# Downloads the command from KEYFRAME_URL, and sets KEYFRAME_URL and KEYFRAME_AUDIENCE for later steps.
set -euo pipefail

[[ $KEYFRAME_URL =~ ^https?://[^[:space:]]+$ ]] || { echo '::error::url must be the address of a Keyframe server'; exit 1; }
[[ $KEYFRAME_AUDIENCE =~ ^[^[:space:]]*$ ]] || { echo '::error::audience must be one word'; exit 1; }

folder=$RUNNER_TEMP/keyframe-command
mkdir -p "$folder"
cd "$folder"
curl -fsSLo keyframe "${KEYFRAME_URL%/}/cli"
curl -fsSL "${KEYFRAME_URL%/}/cli.sha256" | sha256sum --check --quiet
chmod +x keyframe
./keyframe --version

echo "$folder" >> "$GITHUB_PATH"
echo "KEYFRAME_URL=$KEYFRAME_URL" >> "$GITHUB_ENV"
if [[ -n $KEYFRAME_AUDIENCE ]]; then echo "KEYFRAME_AUDIENCE=$KEYFRAME_AUDIENCE" >> "$GITHUB_ENV"; fi

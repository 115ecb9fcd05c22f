{{/* Mode agent: only the controller, which works through a server elsewhere. */}}

{{/* The audience of the controller's token: it proves this cluster to that server, and nothing else. */}}
{{- define "keyframe.clusterAudience" -}}
{{- printf "keyframe/%s/clusters/%s" .Values.server.instance .Values.clusterName }}
{{- end }}

{{- define "keyframe.agentEnv" }}
{{- $values := .root.Values }}
- { name: KEYFRAME_SERVER_URL, value: {{ trimSuffix "/" $values.server.url | quote }} }
{{- if $values.server.ca.existingSecret }}
- { name: KEYFRAME_SERVER_CA_FILE, value: /etc/keyframe/server-ca/ca.crt }
{{- end }}
- { name: KEYFRAME_CLUSTER_TOKEN_FILE, value: /etc/keyframe/cluster-token/token }
{{- end }}

{{- define "keyframe.agentMounts" }}
- { name: cluster-token, mountPath: /etc/keyframe/cluster-token, readOnly: true }
{{- if .Values.server.ca.existingSecret }}
- { name: server-ca, mountPath: /etc/keyframe/server-ca, readOnly: true }
{{- end }}
{{- end }}

{{/* Kubernetes signs the token, and replaces it before it expires. */}}
{{- define "keyframe.agentVolumes" }}
- name: cluster-token
  projected:
    sources:
      - serviceAccountToken: { audience: {{ include "keyframe.clusterAudience" . | quote }}, expirationSeconds: 3600, path: token }
{{- with .Values.server.ca }}
{{- if .existingSecret }}
- name: server-ca
  secret: { secretName: {{ .existingSecret }}, items: [{ key: {{ .key }}, path: ca.crt }] }
{{- end }}
{{- end }}
{{- end }}

{{/* Fails if values are for the other mode, or if an upgrade would change the mode. */}}
{{- define "keyframe.checkMode" -}}
{{- if include "keyframe.hasServer" . }}
{{- range list "server.url" "server.instance" "server.ca.existingSecret" }}
{{- if include "keyframe.valueAt" (list $ .) }}
{{- fail (printf "%s is for mode agent, and mode is server: set mode to agent if a server elsewhere serves this cluster" .) }}
{{- end }}
{{- end }}
{{- else }}
{{- include "keyframe.checkAgentValues" . }}
{{- end }}
{{- include "keyframe.checkModeStays" . }}
{{- end }}

{{- define "keyframe.checkAgentValues" -}}
{{- $advice := "keyframe cluster create prints it, with the whole command" }}
{{- range list "server.url" "server.instance" "clusterName" }}
{{- if not (include "keyframe.valueAt" (list $ .)) }}
{{- fail (printf "mode agent needs %s: %s" . $advice) }}
{{- end }}
{{- end }}
{{- if not .Values.controller.separate }}
{{- fail "controller.separate is false, and mode agent installs the controller alone: leave it at its default" }}
{{- end }}
{{- range splitList "\n" (.Files.Get "files/server-values.txt" | trim) }}
{{- if include "keyframe.valueAt" (list $ .) }}
{{- fail (printf "%s is for the server, and mode agent installs the controller alone, without database and root key: leave it at its default, or set it where the server is installed" .) }}
{{- end }}
{{- end }}
{{- with .Values.bootstrap.adminEmail }}
{{- if ne . "admin@example.com" }}
{{- fail "bootstrap.adminEmail is for the server, and mode agent installs the controller alone: leave it at its default" }}
{{- end }}
{{- end }}
{{- end }}

{{/* The value at a path, as a text; empty for none, false, and an empty list. Takes a list: root, path. */}}
{{- define "keyframe.valueAt" -}}
{{- $at := (first .).Values }}
{{- range splitList "." (last .) }}{{ $at = index $at . }}{{ end }}
{{- if $at }}{{ toString $at }}{{ end }}
{{- end }}

{{/* Without a cluster, as in helm template, no earlier release is found. */}}
{{- define "keyframe.checkModeStays" -}}
{{- if .Release.IsUpgrade }}
{{- $name := include "keyframe.fullname" . }}
{{- $server := lookup "apps/v1" "Deployment" .Release.Namespace $name }}
{{- $controller := lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-controller" $name) }}
{{- $wasAgent := false }}
{{- range dig "spec" "template" "spec" "volumes" (list) $controller }}
{{- if and (eq .name "cluster-token") .projected }}{{ $wasAgent = true }}{{ end }}
{{- end }}
{{- if and $wasAgent (include "keyframe.hasServer" .) }}
{{- fail "this release was installed with mode agent, and would become a server with an empty database: give its values again, as with --reset-then-reuse-values. A server is a release of its own" }}
{{- end }}
{{- if and $server (not (include "keyframe.hasServer" .)) }}
{{- fail (printf "this release was installed with mode server, and would lose its server and its database: an agent is a release of its own. Move the secrets first, and uninstall the release %s" .Release.Name) }}
{{- end }}
{{- end }}
{{- end }}

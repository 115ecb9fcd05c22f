{{/* Mode agent: only the controller, which works through a server elsewhere. */}}

{{/* The audience of the controller's token: it proves this cluster to that server, and nothing else. */}}
{{- define "keyframe.clusterAudience" -}}
{{- printf "keyframe/%s/clusters/%s" .Values.server.instance .Values.clusterName }}
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

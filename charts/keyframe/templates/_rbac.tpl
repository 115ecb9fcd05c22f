{{/*
A role and its binding. Takes a dict: root, kind, name, namespace, and the rules as names of files/ or as a text. For a hook
also hook, component and account. Default account: the controller's.
*/}}
{{- define "keyframe.role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  {{- include "keyframe.roleMetadata" . | nindent 2 }}
rules:
  {{- with .rules }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- $root := .root }}
  {{- range .files }}
  {{- $root.Files.Get (printf "files/%s-rules.yaml" .) | trim | nindent 2 }}
  {{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
metadata:
  {{- include "keyframe.roleMetadata" . | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ default (include "keyframe.controllerAccount" .root) .account }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{- define "keyframe.roleMetadata" -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- include "keyframe.labels" .root | nindent 2 }}
  {{- with .component }}
  app.kubernetes.io/component: {{ . }}
  {{- end }}
{{- with .hook }}
annotations:
  {{- include "keyframe.hookAnnotations" (dict "hook" . "weight" -10) | nindent 2 }}
{{- end }}
{{- end }}

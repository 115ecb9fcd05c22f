{{/* A role with rules out of files/, and its binding to the controller. Takes a dict: root, kind, name, namespace, files. */}}
{{- define "keyframe.role" -}}
{{- $root := .root }}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "keyframe.labels" .root | nindent 4 }}
rules:
  {{- range .files }}
  {{- $root.Files.Get (printf "files/%s-rules.yaml" .) | trim | nindent 2 }}
  {{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "keyframe.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "keyframe.controllerAccount" .root }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{/*
The hooks: init and migrate before the installation and upgrades, pre-delete before the uninstallation, and the smoke test on
request. A hook, its account and its rights exist only while it runs.
*/}}

{{/* The annotations of a hook. Takes a dict: hook, weight. */}}
{{- define "keyframe.hookAnnotations" -}}
helm.sh/hook: {{ .hook }}
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/* Whether hooks have separate accounts and rights. */}}
{{- define "keyframe.hookAccounts" -}}
{{- if and .Values.rbac.create .Values.serviceAccount.create }}true{{ end }}
{{- end }}

{{/* Takes a dict: root, component, hook. */}}
{{- define "keyframe.hookAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "keyframe.fullname" .root }}-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "keyframe.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  annotations:
    {{- with .root.Values.serviceAccount.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- include "keyframe.hookAnnotations" (dict "hook" .hook "weight" -10) | nindent 4 }}
{{- end }}

{{/* Takes a dict: root, component, hook, account. */}}
{{- define "keyframe.hookJob" -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "keyframe.fullname" .root }}-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "keyframe.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  annotations:
    {{- include "keyframe.hookAnnotations" (dict "hook" .hook "weight" 0) | nindent 4 }}
spec:
  backoffLimit: 4
  # Less than Helm waits, so that Helm sees the failure.
  activeDeadlineSeconds: 240
  {{- if eq .component "migrate" }}
  # 78 is a fault that only a correction ends. The program has already waited for what may end by itself.
  podFailurePolicy:
    rules:
      - action: FailJob
        onExitCodes: { containerName: migrate, operator: In, values: [78] }
  {{- end }}
  template:
    metadata:
      labels:
        {{- include "keyframe.hookPodLabels" . | nindent 8 }}
    spec:
      {{- if eq .component "migrate" }}
      {{- include "keyframe.migrationPodSpec" . | nindent 6 }}
      {{- else }}
      {{- include "keyframe.hookPodSpec" . | nindent 6 }}
      {{- end }}
{{- end }}

{{/* Not all labels of the server's pods: Services and NetworkPolicies must not select the pods of hooks. */}}
{{- define "keyframe.hookPodLabels" -}}
{{- with merge (dict) .root.Values.podLabels .root.Values.commonLabels }}
{{- toYaml . }}
{{ end }}
{{- include "keyframe.selectorLabels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Takes a dict: root, component (also the role), account. */}}
{{- define "keyframe.hookPodSpec" -}}
{{- $values := .root.Values -}}
restartPolicy: Never
serviceAccountName: {{ .account }}
automountServiceAccountToken: true
enableServiceLinks: false
securityContext:
  {{- include "keyframe.podSecurity" .root | nindent 2 }}
containers:
  - name: {{ .component }}
    image: {{ include "keyframe.image" .root | quote }}
    imagePullPolicy: {{ $values.image.pullPolicy }}
    args: [{{ .component }}]
    env:
      {{- include "keyframe.hookEnv" . | nindent 6 }}
    {{- include "keyframe.envFrom" .root | nindent 4 }}
    resources:
      {{- toYaml $values.resources | nindent 6 }}
    securityContext:
      {{- include "keyframe.containerSecurity" .root | nindent 6 }}
    {{- $isTest := eq .component "smoke-test" }}
    {{- if or $isTest $values.extraVolumeMounts }}
    volumeMounts:
      {{- if $isTest }}
      - { name: admin, mountPath: /etc/keyframe/admin, readOnly: true }
      {{- if $values.tls.existingSecret }}
      - { name: tls-ca, mountPath: /etc/keyframe/tls-ca, readOnly: true }
      {{- end }}
      {{- end }}
      {{- with $values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- end }}
{{- if or $isTest $values.extraVolumes }}
volumes:
  {{- if $isTest }}
  - name: admin
    secret:
      secretName: {{ include "keyframe.adminSecret" .root }}
      items: [{ key: token, path: token }]
  {{- if $values.tls.existingSecret }}
  - name: tls-ca
    secret:
      secretName: {{ $values.tls.existingSecret }}
      items: [{ key: {{ $values.tls.caKey }}, path: ca.crt }]
      optional: true
  {{- end }}
  {{- end }}
  {{- with $values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- include "keyframe.nodes" .root }}
{{- include "keyframe.priority" $values.priorityClassName }}
{{- end }}

{{/* The pod that migrates an external PostgreSQL as the owner of its tables. It does not call the API server. */}}
{{- define "keyframe.migrationPodSpec" -}}
{{- $values := .root.Values -}}
{{- $parts := dict "root" .root "role" "migrate" "job" true "resources" $values.resources -}}
restartPolicy: Never
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "keyframe.podSecurity" .root | nindent 2 }}
{{- with $values.extraInitContainers }}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: migrate
    {{- include "keyframe.container" $parts | nindent 4 }}
volumes:
  {{- include "keyframe.volumes" $parts | nindent 2 }}
{{- include "keyframe.nodes" .root }}
{{- include "keyframe.priority" $values.priorityClassName }}
{{- end }}

{{- define "keyframe.hookEnv" -}}
{{- $values := .root.Values -}}
- { name: KEYFRAME_LOG_LEVEL, value: {{ $values.logLevel }} }
{{- if eq .component "init" }}
{{- include "keyframe.initEnv" .root }}
{{- else if eq .component "pre-delete" }}
- { name: KEYFRAME_SHUTDOWN_DELAY, value: {{ $values.shutdownDelay }} }
{{- with $values.watchNamespaces }}
- { name: KEYFRAME_WATCH_NAMESPACES, value: {{ join "," . | quote }} }
{{- end }}
{{- else }}
- { name: KEYFRAME_NAMESPACE, value: {{ include "keyframe.testNamespace" .root | quote }} }
- { name: KEYFRAME_SMOKE_TEST_URL, value: '{{ include "keyframe.scheme" .root }}://{{ include "keyframe.fullname" .root }}.{{ .root.Release.Namespace }}:{{ $values.service.port }}' }
- { name: KEYFRAME_SMOKE_TEST_TOKEN_FILE, value: /etc/keyframe/admin/token }
{{- if $values.tls.existingSecret }}
# For Node.js. A missing file changes nothing.
- { name: NODE_EXTRA_CA_CERTS, value: /etc/keyframe/tls-ca/ca.crt }
{{- end }}
{{- end }}
{{- with $values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The Secrets that init creates: all that no existingSecret names. */}}
{{- define "keyframe.initEnv" }}
{{- if not .Values.rootKey.existingSecret }}
- { name: KEYFRAME_INIT_ROOT_KEY_SECRET, value: {{ include "keyframe.rootKeySecret" . }}/{{ .Values.rootKey.key }} }
{{- end }}
{{- if and .Values.postgres.enabled (not .Values.postgres.existingSecret) }}
- { name: KEYFRAME_INIT_POSTGRES_SECRET, value: {{ include "keyframe.postgresSecret" . }} }
{{- end }}
{{- if include "keyframe.initsPostgresRun" . }}
- { name: KEYFRAME_INIT_POSTGRES_RUN_SECRET, value: {{ include "keyframe.postgresRunSecret" . }} }
{{- end }}
{{- if and .Values.postgres.enabled (or (not .Values.postgres.existingSecret) (include "keyframe.initsPostgresRun" .)) }}
- { name: KEYFRAME_INIT_POSTGRES_HOST, value: {{ include "keyframe.fullname" . }}-postgres }
{{- end }}
{{- if and .Values.bootstrap.adminEmail (not .Values.bootstrap.existingSecret) }}
- { name: KEYFRAME_INIT_ADMIN_SECRET, value: {{ include "keyframe.adminSecret" . }} }
- { name: KEYFRAME_BOOTSTRAP_ADMIN_EMAIL, value: {{ .Values.bootstrap.adminEmail | quote }} }
{{- end }}
{{- if include "keyframe.initsClusterToken" . }}
- { name: KEYFRAME_INIT_CLUSTER_TOKEN_SECRET, value: {{ include "keyframe.clusterTokenSecret" . }} }
{{- end }}
{{- with include "keyframe.clusterCaSecret" . }}
- { name: KEYFRAME_INIT_CLUSTER_CA_SECRET, value: {{ . }} }
- { name: KEYFRAME_CLUSTER_TLS_NAMES, value: {{ include "keyframe.clusterHost" $ }} }
{{- end }}
{{- end }}

{{/* Whether init creates the Secret as which the server connects to the chart's PostgreSQL. */}}
{{- define "keyframe.initsPostgresRun" -}}
{{- if and .Values.postgres.enabled (not .Values.postgres.runSecret) }}true{{ end }}
{{- end }}

{{/* Whether init creates the Secret with the home token. */}}
{{- define "keyframe.initsClusterToken" -}}
{{- if and (include "keyframe.clusterTokenSecret" .) (not .Values.controller.token.existingSecret) }}true{{ end }}
{{- end }}

{{/* Empty if the values name every Secret. */}}
{{- define "keyframe.initNames" -}}
{{- $names := list }}
{{- if not .Values.rootKey.existingSecret }}{{ $names = append $names (include "keyframe.rootKeySecret" .) }}{{ end }}
{{- if and .Values.postgres.enabled (not .Values.postgres.existingSecret) }}{{ $names = append $names (include "keyframe.postgresSecret" .) }}{{ end }}
{{- if include "keyframe.initsPostgresRun" . }}{{ $names = append $names (include "keyframe.postgresRunSecret" .) }}{{ end }}
{{- if and .Values.bootstrap.adminEmail (not .Values.bootstrap.existingSecret) }}{{ $names = append $names (include "keyframe.adminSecret" .) }}{{ end }}
{{- if include "keyframe.initsClusterToken" . }}{{ $names = append $names (include "keyframe.clusterTokenSecret" .) }}{{ end }}
{{- with include "keyframe.clusterCaSecret" . }}{{ $names = append $names . }}{{ end }}
{{- if and (include "keyframe.hasServer" .) .Values.init.enabled }}{{ join " " $names }}{{ end }}
{{- end }}

{{/* A namespace that the controller watches: that of the release, if it is watched. */}}
{{- define "keyframe.testNamespace" -}}
{{- if or (not .Values.watchNamespaces) (has .Release.Namespace .Values.watchNamespaces) }}{{ .Release.Namespace }}
{{- else }}{{ first .Values.watchNamespaces }}
{{- end }}
{{- end }}

{{/* Empty if the chart cannot test the release: without an administrator's token, or without the right to create roles. */}}
{{- define "keyframe.hasTest" -}}
{{- if and .Values.tests.enabled (include "keyframe.adminSecret" .) (include "keyframe.hookAccounts" .) }}true{{ end }}
{{- end }}

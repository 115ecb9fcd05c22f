{{/*
A Deployment of the server. Takes a dict: root, component, role, replicas, resources, account, priorityClassName; autoscaled if an
autoscaler decides the number of pods.
*/}}
{{- define "keyframe.deployment" -}}
{{- $component := printf "app.kubernetes.io/component: %s" .component }}
{{- $name := include "keyframe.fullname" .root }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ eq .component "server" | ternary $name (printf "%s-%s" $name .component) }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "keyframe.labels" .root | nindent 4 }}
    {{ $component }}
  {{- with .root.Values.deploymentAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- if .root.Values.recovery.enabled }}
  # The Job of recovery.yaml must be alone with the database.
  replicas: 0
  {{- else if not .autoscaled }}
  replicas: {{ .replicas }}
  {{- end }}
  revisionHistoryLimit: {{ .root.Values.revisionHistoryLimit }}
  # A new pod is ready before an old one stops.
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels:
      {{- include "keyframe.selectorLabels" .root | nindent 6 }}
      {{ $component }}
  template:
    metadata:
      labels:
        {{- include "keyframe.labelsWith" (list .root .root.Values.podLabels) | nindent 8 }}
        {{ $component }}
      {{- with .root.Values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- include "keyframe.podSpec" . | nindent 6 }}
{{- end }}

{{- define "keyframe.podSpec" -}}
{{- $values := .root.Values }}
serviceAccountName: {{ .account }}
automountServiceAccountToken: {{ ne .role "api" }}
enableServiceLinks: false
terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
securityContext:
  {{- include "keyframe.podSecurity" .root | nindent 2 }}
{{- $hasDatabase := ne .role "controller" }}
{{- if or $hasDatabase $values.extraInitContainers }}
initContainers:
  {{- with $values.extraInitContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if $hasDatabase }}
  - name: migrate
    {{- include "keyframe.container" (dict "root" .root "role" "migrate" "resources" .resources) | nindent 4 }}
  {{- end }}
{{- end }}
containers:
  - name: keyframe
    {{- include "keyframe.container" . | nindent 4 }}
    {{- include "keyframe.probes" . | nindent 4 }}
  {{- with $values.extraContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumes:
  {{- include "keyframe.volumes" . | nindent 2 }}
{{- include "keyframe.placement" . }}
{{- end }}

{{- define "keyframe.container" -}}
{{- $values := .root.Values }}
image: {{ include "keyframe.image" .root | quote }}
imagePullPolicy: {{ $values.image.pullPolicy }}
{{- if .arguments }}
args: {{ toJson .arguments }}
{{- else }}
args: [{{ .role }}{{ if and (eq .role "migrate") (include "keyframe.finishesUpgrade" .root) }}, --finish-upgrade{{ end }}]
{{- end }}
env:
  {{- include "keyframe.env" . | nindent 2 }}
{{- include "keyframe.envFrom" .root }}
resources:
  {{- toYaml .resources | nindent 2 }}
securityContext:
  {{- include "keyframe.containerSecurity" .root | nindent 2 }}
volumeMounts:
  {{- if eq .role "controller" }}
  {{- include "keyframe.connectionMounts" .root | nindent 2 }}
  {{- else }}
  {{- include "keyframe.serverMounts" . | nindent 2 }}
  {{- end }}
  {{- with $values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "keyframe.serverMounts" -}}
{{- $values := .root.Values -}}
- { name: database, mountPath: /etc/keyframe/database, readOnly: true }
{{- if include "keyframe.migratesAsOwner" . }}
- { name: database-owner, mountPath: /etc/keyframe/database-owner, readOnly: true }
{{- end }}
{{- if $values.database.ca.existingSecret }}
- { name: database-ca, mountPath: /etc/keyframe/database-ca, readOnly: true }
{{- end }}
{{- if ne .role "migrate" }}
- { name: root-key, mountPath: /etc/keyframe/root-key, readOnly: true }
{{- if $values.bootstrap.adminEmail }}
- { name: bootstrap, mountPath: {{ include "keyframe.bootstrapFolder" .root }}{{ if include "keyframe.adminSecret" .root }}, readOnly: true{{ end }} }
{{- end }}
{{- if $values.tls.existingSecret }}
- { name: tls, mountPath: /etc/keyframe/tls, readOnly: true }
{{- end }}
{{- if include "keyframe.clusterTokenSecret" .root }}
- { name: cluster-token, mountPath: /etc/keyframe/cluster-token, readOnly: true }
{{- end }}
{{- if include "keyframe.clusterTlsSecret" .root }}
- { name: cluster-tls, mountPath: /etc/keyframe/cluster-tls, readOnly: true }
{{- end }}
{{- if $values.oidc.issuer }}
- { name: oidc, mountPath: /etc/keyframe/oidc, readOnly: true }
{{- if $values.oidc.ca.existingSecret }}
- { name: oidc-ca, mountPath: /etc/keyframe/oidc-ca, readOnly: true }
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* All that the controller's pods hold: a token, and the certificates by which they know the server. */}}
{{- define "keyframe.connectionMounts" -}}
- { name: cluster-token, mountPath: /etc/keyframe/cluster-token, readOnly: true }
{{- if include "keyframe.serverCaSecret" . }}
- { name: server-ca, mountPath: /etc/keyframe/server-ca, readOnly: true }
{{- end }}
{{- end }}

{{- define "keyframe.envFrom" -}}
{{- with .Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "keyframe.probes" -}}
ports:
  {{- if ne .role "controller" }}
  - { name: http, containerPort: 8700 }
  {{- if include "keyframe.clusterTlsSecret" .root }}
  - { name: cluster, containerPort: 8702 }
  {{- end }}
  {{- end }}
  - { name: metrics, containerPort: 8701 }
startupProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 1
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: { path: /readyz, port: metrics }
  periodSeconds: 2
  timeoutSeconds: 5
{{- end }}

{{/* Secrets are mounted as files, because a crash report can contain environment variables. */}}
{{- define "keyframe.volumes" -}}
{{- if eq .role "controller" }}
{{- include "keyframe.connectionVolumes" .root }}
{{- else }}
{{- include "keyframe.serverVolumes" . }}
{{- end }}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "keyframe.serverVolumes" -}}
{{- $values := .root.Values -}}
- name: database
  secret: { secretName: {{ include "keyframe.databaseSecret" .root }} }
{{- if and (include "keyframe.ownerSecret" .root) (or .job (not (include "keyframe.hasMigrationJob" .root))) }}
- name: database-owner
  secret: { secretName: {{ include "keyframe.ownerSecret" .root }}, items: [{ key: {{ include "keyframe.ownerKey" .root }}, path: {{ include "keyframe.ownerKey" .root }} }] }
{{- end }}
{{- with $values.database.ca }}
{{- if .existingSecret }}
- name: database-ca
  secret: { secretName: {{ .existingSecret }}, items: [{ key: {{ .key }}, path: ca.crt }] }
{{- end }}
{{- end }}
{{- if ne .role "migrate" }}
- name: root-key
  secret: { secretName: {{ include "keyframe.rootKeySecret" .root }} }
{{- if $values.tls.existingSecret }}
- name: tls
  secret: { secretName: {{ $values.tls.existingSecret }}, items: [{ key: tls.crt, path: tls.crt }, { key: tls.key, path: tls.key }] }
{{- end }}
{{- if include "keyframe.clusterTokenSecret" .root }}
- name: cluster-token
  secret: { secretName: {{ include "keyframe.clusterTokenSecret" .root }}, items: [{ key: token, path: token }] }
{{- end }}
{{- if include "keyframe.clusterTlsSecret" .root }}
- name: cluster-tls
  secret: { secretName: {{ include "keyframe.clusterTlsSecret" .root }}, items: [{ key: tls.crt, path: tls.crt }, { key: tls.key, path: tls.key }] }
{{- end }}
{{- if $values.oidc.issuer }}
- name: oidc
  secret: { secretName: {{ required "oidc.issuer needs oidc.existingSecret" $values.oidc.existingSecret }}, items: [{ key: {{ $values.oidc.key }}, path: {{ $values.oidc.key }} }] }
{{- with $values.oidc.ca }}
{{- if .existingSecret }}
- name: oidc-ca
  secret: { secretName: {{ .existingSecret }}, items: [{ key: {{ .key }}, path: ca.crt }] }
{{- end }}
{{- end }}
{{- end }}
{{- if $values.bootstrap.adminEmail }}
- name: bootstrap
  {{- with include "keyframe.adminSecret" .root }}
  # Not needed after the first user exists. The Secret that init created can then be deleted.
  secret: { secretName: {{ . }}, items: [{ key: token, path: token }], optional: {{ not $values.bootstrap.existingSecret }} }
  {{- else }}
  emptyDir: { medium: Memory, sizeLimit: 1Mi }
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "keyframe.connectionVolumes" -}}
- name: cluster-token
{{- if include "keyframe.hasServer" . }}
  secret: { secretName: {{ include "keyframe.clusterTokenSecret" . }}, items: [{ key: token, path: token }] }
{{- else }}
  # Kubernetes signs the token, and replaces it before it expires.
  projected:
    sources:
      - serviceAccountToken: { audience: {{ include "keyframe.clusterAudience" . | quote }}, expirationSeconds: 3600, path: token }
{{- end }}
{{- with include "keyframe.serverCaSecret" . }}
- name: server-ca
  secret: { secretName: {{ . }}, items: [{ key: {{ include "keyframe.serverCaKey" $ }}, path: ca.crt }] }
{{- end }}
{{- end }}

{{- define "keyframe.placement" -}}
{{- $values := .root.Values }}
{{- with $values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- else }}
{{- if $values.topologySpread }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "keyframe.selectorLabels" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
{{- end }}
{{- end }}
{{- include "keyframe.nodes" .root }}
{{- include "keyframe.priority" (default $values.priorityClassName .priorityClassName) }}
{{- end }}

{{/* Takes the name of a PriorityClass, or nothing. */}}
{{- define "keyframe.priority" -}}
{{- with . }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* The nodes of every pod of the chart, and how it finds names and images. */}}
{{- define "keyframe.nodes" -}}
{{- with .Values.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

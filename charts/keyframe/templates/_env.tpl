{{/* The server's KEYFRAME_* variables (docs/configuration.md). */}}
{{- define "keyframe.env" -}}
{{- $values := .root.Values -}}
- { name: KEYFRAME_LOG_LEVEL, value: {{ $values.logLevel }} }
{{- if ne .role "migrate" }}
- { name: KEYFRAME_SHUTDOWN_DELAY, value: {{ $values.shutdownDelay }} }
{{- end }}
{{- if eq .role "controller" }}
{{- include "keyframe.connectionEnv" .root }}
{{- include "keyframe.controllerEnv" . }}
{{- else }}
{{- include "keyframe.serverEnv" . }}
{{- end }}
{{- with $values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "keyframe.serverEnv" }}
{{- $values := .root.Values }}
{{- $address := printf "/etc/keyframe/database/%s" (include "keyframe.databaseKey" .root) }}
{{- if include "keyframe.migratesAsOwner" . }}
- { name: KEYFRAME_DATABASE_URL_FILE, value: /etc/keyframe/database-owner/{{ include "keyframe.ownerKey" .root }} }
- { name: KEYFRAME_DATABASE_RUN_URL_FILE, value: {{ $address }} }
{{- if and .root.Values.init.enabled (include "keyframe.initsPostgresRun" .root) }}
- { name: KEYFRAME_DATABASE_RUN_GENERATED, value: 'true' }
{{- end }}
{{- else }}
- { name: KEYFRAME_DATABASE_URL_FILE, value: {{ $address }} }
{{- end }}
{{- if and $values.database.directKey (not (include "keyframe.migratesAsOwner" .)) }}
- { name: KEYFRAME_DATABASE_DIRECT_URL_FILE, value: /etc/keyframe/database/{{ $values.database.directKey }} }
{{- end }}
{{- if $values.database.ca.existingSecret }}
- { name: KEYFRAME_DATABASE_CA_FILE, value: /etc/keyframe/database-ca/ca.crt }
{{- end }}
{{- if eq .role "migrate" }}
# PostgreSQL may start at the same time.
- { name: KEYFRAME_DATABASE_WAIT, value: 60s }
{{- else }}
- { name: KEYFRAME_ROOT_KEY_FILE, value: /etc/keyframe/root-key/{{ $values.rootKey.key }} }
- { name: KEYFRAME_WRITE_LIMIT_ENVIRONMENT, value: {{ $values.growthLimits.environmentMiBPerDay | int64 | quote }} }
- { name: KEYFRAME_WRITE_LIMIT_CALLER, value: {{ $values.growthLimits.callerMiBPerDay | int64 | quote }} }
- { name: KEYFRAME_SNAPSHOT_LIMIT, value: {{ $values.growthLimits.snapshotsPerEnvironment | int64 | quote }} }
{{- include "keyframe.apiEnv" . }}
{{- if eq .role "all" }}
{{- include "keyframe.controllerEnv" . }}
{{- end }}
{{- end }}
{{- end }}

{{/* How the controller reaches the server. */}}
{{- define "keyframe.connectionEnv" }}
- { name: KEYFRAME_SERVER_URL, value: {{ include "keyframe.serverUrl" . | quote }} }
{{- if include "keyframe.serverCaSecret" . }}
- { name: KEYFRAME_SERVER_CA_FILE, value: /etc/keyframe/server-ca/ca.crt }
{{- end }}
- { name: KEYFRAME_CLUSTER_TOKEN_FILE, value: /etc/keyframe/cluster-token/token }
{{- end }}

{{/* Whether a container migrates as the owner of the tables. Takes what keyframe.env takes; job: of the migration's Job. */}}
{{- define "keyframe.migratesAsOwner" -}}
{{- if and (eq .role "migrate") (include "keyframe.ownerSecret" .root) }}
{{- if or .job (not (include "keyframe.hasMigrationJob" .root)) }}true{{ end }}
{{- end }}
{{- end }}

{{- define "keyframe.apiEnv" }}
{{- $values := .root.Values }}
{{- if $values.tls.existingSecret }}
- { name: KEYFRAME_TLS_CERTIFICATE_FILE, value: /etc/keyframe/tls/tls.crt }
- { name: KEYFRAME_TLS_KEY_FILE, value: /etc/keyframe/tls/tls.key }
{{- end }}
{{- if include "keyframe.clusterTlsSecret" .root }}
- { name: KEYFRAME_CLUSTER_PORT, value: '8702' }
{{- if include "keyframe.clusterCaSecret" .root }}
- { name: KEYFRAME_CLUSTER_CA_FILE, value: /etc/keyframe/cluster-tls/tls.crt }
- { name: KEYFRAME_CLUSTER_CA_KEY_FILE, value: /etc/keyframe/cluster-tls/tls.key }
{{- else }}
- { name: KEYFRAME_CLUSTER_TLS_CERTIFICATE_FILE, value: /etc/keyframe/cluster-tls/tls.crt }
- { name: KEYFRAME_CLUSTER_TLS_KEY_FILE, value: /etc/keyframe/cluster-tls/tls.key }
{{- end }}
- { name: KEYFRAME_CLUSTER_TLS_NAMES, value: {{ include "keyframe.clusterHost" .root }} }
{{- end }}
{{- if include "keyframe.clusterTokenSecret" .root }}
- { name: KEYFRAME_HOME_TOKEN_FILE, value: /etc/keyframe/cluster-token/token }
{{- end }}
{{- with $values.publicUrl }}
- { name: KEYFRAME_PUBLIC_URL, value: {{ . | quote }} }
{{- end }}
{{- with $values.oidc }}
{{- if .issuer }}
- { name: KEYFRAME_OIDC_ISSUER, value: {{ .issuer | quote }} }
- { name: KEYFRAME_OIDC_CLIENT_ID, value: {{ required "oidc.issuer needs oidc.clientId" .clientId | quote }} }
- { name: KEYFRAME_OIDC_CLIENT_SECRET_FILE, value: /etc/keyframe/oidc/{{ .key }} }
{{- if .ca.existingSecret }}
- { name: KEYFRAME_OIDC_CA_FILE, value: /etc/keyframe/oidc-ca/ca.crt }
{{- end }}
{{- with .name }}
- { name: KEYFRAME_OIDC_NAME, value: {{ . | quote }} }
{{- end }}
{{- with .scopes }}
- { name: KEYFRAME_OIDC_SCOPES, value: {{ . | quote }} }
{{- end }}
{{- with .groupsClaim }}
- { name: KEYFRAME_OIDC_GROUPS_CLAIM, value: {{ . | quote }} }
{{- end }}
{{- with .groupsMaxAge }}
- { name: KEYFRAME_OIDC_GROUPS_MAX_AGE, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- end }}
- { name: KEYFRAME_RATE_LIMIT_REQUESTS, value: {{ $values.rateLimits.requests | int64 | quote }} }
- { name: KEYFRAME_RATE_LIMIT_FAILED_AUTHENTICATIONS, value: {{ $values.rateLimits.failedAuthentications | int64 | quote }} }
- { name: KEYFRAME_RATE_LIMIT_TRAFFIC_MIB, value: {{ $values.rateLimits.trafficMiB | int64 | quote }} }
- { name: KEYFRAME_TRUSTED_ISSUER_PRIVATE_ADDRESSES, value: {{ $values.trustedIssuers.privateAddresses | quote }} }
- { name: KEYFRAME_DEVICE_LOGIN, value: {{ $values.deviceLogin | quote }} }
{{- with $values.trustedProxies }}
- { name: KEYFRAME_TRUSTED_PROXIES, value: {{ join "," . | quote }} }
{{- end }}
{{- with $values.bootstrap.adminEmail }}
- { name: KEYFRAME_BOOTSTRAP_ADMIN_EMAIL, value: {{ . | quote }} }
- { name: KEYFRAME_BOOTSTRAP_TOKEN_FILE, value: {{ include "keyframe.bootstrapFolder" $.root }}/token }
{{- end }}
{{- end }}

{{- define "keyframe.controllerEnv" }}
{{- $values := .root.Values }}
- { name: KEYFRAME_ROLLOUTS, value: {{ $values.rollouts | quote }} }
{{- with $values.rolloutNamespaces }}
- { name: KEYFRAME_ROLLOUT_NAMESPACES, value: {{ join "," . | quote }} }
{{- end }}
{{- with $values.watchNamespaces }}
- { name: KEYFRAME_WATCH_NAMESPACES, value: {{ join "," . | quote }} }
{{- end }}
{{- with $values.targetMetadataPrefixes }}
- { name: KEYFRAME_TARGET_METADATA_PREFIXES, value: {{ join "," . | quote }} }
{{- end }}
{{- with $values.clusterName }}
- { name: KEYFRAME_CLUSTER_NAME, value: {{ . | quote }} }
{{- end }}
{{- with $values.resyncInterval }}
- { name: KEYFRAME_RESYNC_INTERVAL, value: {{ . | quote }} }
{{- end }}
{{- end }}

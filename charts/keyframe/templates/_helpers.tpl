{{- define "keyframe.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* At most 40 characters: the longest suffix has 23 characters, and names have at most 63. */}}
{{- define "keyframe.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "keyframe.name" .) .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "keyframe.name" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* The name of cluster-scoped objects. It contains the namespace, so that two releases of one name do not share them. */}}
{{- define "keyframe.clusterwideName" -}}
{{- printf "%s-%s" .Release.Namespace (include "keyframe.fullname" .) }}
{{- end }}

{{- define "keyframe.selectorLabels" -}}
app.kubernetes.io/name: {{ include "keyframe.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "keyframe.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "keyframe.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: keyframe
{{- end }}

{{- define "keyframe.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}

{{- define "keyframe.controllerAccount" -}}
{{- default (printf "%s-controller" (include "keyframe.fullname" .)) .Values.serviceAccount.name }}
{{- end }}

{{- define "keyframe.rootKeySecret" -}}
{{- default (printf "%s-root-key" (include "keyframe.fullname" .)) .Values.rootKey.existingSecret }}
{{- end }}

{{- define "keyframe.postgresSecret" -}}
{{- default (printf "%s-postgres" (include "keyframe.fullname" .)) .Values.postgres.existingSecret }}
{{- end }}

{{- define "keyframe.databaseSecret" -}}
{{- if .Values.postgres.enabled }}{{ include "keyframe.postgresSecret" . }}
{{- else }}{{ default (printf "%s-database" (include "keyframe.fullname" .)) .Values.database.existingSecret }}
{{- end }}
{{- end }}

{{/* The Secret with the first administrator's token; empty if there is none. */}}
{{- define "keyframe.adminSecret" -}}
{{- if .Values.bootstrap.adminEmail }}
{{- if or .Values.bootstrap.existingSecret .Values.init.enabled }}
{{- default (printf "%s-admin" (include "keyframe.fullname" .)) .Values.bootstrap.existingSecret }}
{{- end }}
{{- end }}
{{- end }}

{{/* The file with that token. Without a Secret, the server writes it. */}}
{{- define "keyframe.bootstrapFolder" -}}
{{- if include "keyframe.adminSecret" . }}/etc/keyframe/admin{{ else }}/var/run/keyframe{{ end }}
{{- end }}

{{/* The securityContext of every container, as Pod Security «restricted» requires. */}}
{{- define "keyframe.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Fails if values contradict each other. */}}
{{- define "keyframe.checkValues" -}}
{{- $external := or .Values.database.url .Values.database.existingSecret }}
{{- if and .Values.postgres.enabled $external }}
{{- fail "database.url and database.existingSecret are for an external database: set postgres.enabled to false" }}
{{- end }}
{{- if not (or .Values.postgres.enabled $external) }}
{{- fail "postgres.enabled is false: database.url or database.existingSecret must name the database" }}
{{- end }}
{{- if and .Values.database.url .Values.database.existingSecret }}
{{- fail "database.url and database.existingSecret are mutually exclusive: set one of them" }}
{{- end }}
{{- if and .Values.database.directKey (not .Values.database.existingSecret) }}
{{- fail "database.directKey is a key of database.existingSecret, which is not set" }}
{{- end }}
{{- if and .Values.database.ca.existingSecret .Values.postgres.enabled }}
{{- fail "database.ca is for an external database: the PostgreSQL of postgres.enabled has no certificate" }}
{{- end }}
{{- if and .Values.bootstrap.existingSecret (not .Values.bootstrap.adminEmail) }}
{{- fail "bootstrap.existingSecret holds the token of the administrator that bootstrap.adminEmail names, which is not set" }}
{{- end }}
{{- if and .Release.IsInstall (regexMatch "(?i)[@.]example(\\.(com|net|org))?$" .Values.bootstrap.adminEmail) }}
{{- fail (printf "bootstrap.adminEmail is still the placeholder %s: set the address of the first administrator, as in --set bootstrap.adminEmail=ann@your-company.com, or make it empty for none" .Values.bootstrap.adminEmail) }}
{{- end }}
{{- if and (include "keyframe.initNames" .) (not (include "keyframe.hookAccounts" .)) }}
{{- fail "init.enabled requires rbac.create and serviceAccount.create for its account: set them, or create the Secrets as the chart's README describes and set init.enabled to false" }}
{{- end }}
{{- if lt (int .Values.terminationGracePeriodSeconds) (add 25 (.Values.shutdownDelay | trimSuffix "s" | int)) }}
{{- fail "terminationGracePeriodSeconds must be at least 25 more than shutdownDelay: otherwise requests in progress are cut off" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.host is required if ingress.enabled is true" }}
{{- end }}
{{- end }}

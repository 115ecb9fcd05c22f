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
{{- include "keyframe.labelsWith" (list . dict) }}
{{- end }}

{{/*
The annotations of what outlives the release. Argo CD obeys helm's when an Application is deleted, but not when it prunes what
left Git. A definition that is pruned takes every resource of its kind along.
*/}}
{{- define "keyframe.keepAnnotations" -}}
helm.sh/resource-policy: keep
argocd.argoproj.io/sync-options: Prune=false
kustomize.toolkit.fluxcd.io/prune: disabled
{{- end }}

{{/* The labels of every object, with more. The chart's own labels have precedence. Takes a list: root, labels. */}}
{{- define "keyframe.labelsWith" -}}
{{- $root := first . }}
{{- include "keyframe.checkImage" $root }}
{{- merge (include "keyframe.ownLabels" $root | fromYaml) (last .) $root.Values.commonLabels | toYaml }}
{{- end }}

{{- define "keyframe.ownLabels" -}}
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

{{/* Whether the release has the server. In mode agent it is the controller alone, of a server elsewhere. */}}
{{- define "keyframe.hasServer" -}}
{{- if eq .Values.mode "server" }}true{{ end }}
{{- end }}

{{/* Whether the release has a PostgreSQL. */}}
{{- define "keyframe.hasPostgres" -}}
{{- if and (include "keyframe.hasServer" .) .Values.postgres.enabled }}true{{ end }}
{{- end }}

{{/* Whether the controller has pods of its own. */}}
{{- define "keyframe.hasController" -}}
{{- if or (not (include "keyframe.hasServer" .)) .Values.controller.separate }}true{{ end }}
{{- end }}

{{/* The Secret with the address of the chart's PostgreSQL for the server; empty if the server connects as the owner. */}}
{{- define "keyframe.postgresRunSecret" -}}
{{- if .Values.postgres.enabled }}
{{- $byDefault := .Values.init.enabled | ternary (printf "%s-postgres-run" (include "keyframe.fullname" .)) "" }}
{{- $name := default $byDefault .Values.postgres.runSecret }}
{{- if ne $name (include "keyframe.postgresSecret" .) }}{{ $name }}{{ end }}
{{- end }}
{{- end }}

{{/* The Secret with the address as which the server connects. */}}
{{- define "keyframe.databaseSecret" -}}
{{- if .Values.postgres.enabled }}{{ default (include "keyframe.postgresSecret" .) (include "keyframe.postgresRunSecret" .) }}
{{- else }}{{ default (printf "%s-database" (include "keyframe.fullname" .)) .Values.database.existingSecret }}
{{- end }}
{{- end }}

{{/* The Secret for TLS of the port of controllers; empty without that port. */}}
{{- define "keyframe.clusterTlsSecret" -}}
{{- if and (include "keyframe.hasServer" .) .Values.controller.separate }}
{{- default (printf "%s-cluster-tls" (include "keyframe.fullname" .)) .Values.clusterTls.existingSecret }}
{{- end }}
{{- end }}

{{/* The CA, which init creates; empty if it creates none. */}}
{{- define "keyframe.clusterCaSecret" -}}
{{- if not .Values.clusterTls.existingSecret }}{{ include "keyframe.clusterTlsSecret" . }}{{ end }}
{{- end }}

{{/* The Secret with the home token, which the controller's pods present at that port; empty without that port. */}}
{{- define "keyframe.clusterTokenSecret" -}}
{{- if and (include "keyframe.hasServer" .) .Values.controller.separate }}
{{- default (printf "%s-cluster-token" (include "keyframe.fullname" .)) .Values.controller.token.existingSecret }}
{{- end }}
{{- end }}

{{/* The name by which controllers reach that port. A CA can sign for it only. */}}
{{- define "keyframe.clusterHost" -}}
{{- printf "%s-cluster.%s.svc" (include "keyframe.fullname" .) .Release.Namespace }}
{{- end }}

{{/* The address of the server for the controller: that port, or in mode agent the server elsewhere. */}}
{{- define "keyframe.serverUrl" -}}
{{- if include "keyframe.hasServer" . }}https://{{ include "keyframe.clusterHost" . }}:{{ .Values.cluster.port }}
{{- else }}{{ trimSuffix "/" .Values.server.url }}
{{- end }}
{{- end }}

{{/* The Secret with the authorities that sign the server's certificate; empty for the public ones. */}}
{{- define "keyframe.serverCaSecret" -}}
{{- if include "keyframe.hasServer" . }}{{ include "keyframe.clusterTlsSecret" . }}{{ else }}{{ .Values.server.ca.existingSecret }}{{ end }}
{{- end }}

{{/* The key of these authorities. */}}
{{- define "keyframe.serverCaKey" -}}
{{- if include "keyframe.hasServer" . }}ca.crt{{ else }}{{ .Values.server.ca.key }}{{ end }}
{{- end }}

{{/* The Secret with the first administrator's token; empty if there is none. */}}
{{- define "keyframe.adminSecret" -}}
{{- if and (include "keyframe.hasServer" .) .Values.bootstrap.adminEmail }}
{{- if or .Values.bootstrap.existingSecret .Values.init.enabled }}
{{- default (printf "%s-admin" (include "keyframe.fullname" .)) .Values.bootstrap.existingSecret }}
{{- end }}
{{- end }}
{{- end }}

{{/* The file with that token. Without a Secret, the server writes it. */}}
{{- define "keyframe.bootstrapFolder" -}}
{{- if include "keyframe.adminSecret" . }}/etc/keyframe/admin{{ else }}/var/run/keyframe{{ end }}
{{- end }}

{{/* The Secret with the address of the tables' owner, if another role than that of the server migrates; else empty. */}}
{{- define "keyframe.ownerSecret" -}}
{{- if include "keyframe.postgresRunSecret" . }}{{ include "keyframe.postgresSecret" . }}
{{- else if not .Values.postgres.enabled }}{{ .Values.database.migration.existingSecret }}
{{- end }}
{{- end }}

{{/* The key of that address. */}}
{{- define "keyframe.ownerKey" -}}
{{- if .Values.postgres.enabled }}url{{ else }}{{ .Values.database.migration.key }}{{ end }}
{{- end }}

{{/* The key of the address as which the server connects. */}}
{{- define "keyframe.databaseKey" -}}
{{- .Values.postgres.enabled | ternary "url" .Values.database.key }}
{{- end }}

{{/* Whether a Job migrates. The chart's own PostgreSQL does not run before the installation, so the pods migrate it. */}}
{{- define "keyframe.hasMigrationJob" -}}
{{- if and (include "keyframe.hasServer" .) (not .Values.postgres.enabled) (include "keyframe.ownerSecret" .) }}true{{ end }}
{{- end }}

{{/* Whether the upgrade to this chart's minor release is finished. A value from an earlier upgrade has no effect. */}}
{{- define "keyframe.finishesUpgrade" -}}
{{- if eq (default "" .Values.database.finishUpgrade) (include "keyframe.minorRelease" .) }}true{{ end }}
{{- end }}

{{- define "keyframe.minorRelease" -}}
{{- regexFind "^[0-9]+\\.[0-9]+" .Chart.AppVersion }}
{{- end }}

{{/* http or https. */}}
{{- define "keyframe.scheme" -}}
{{- if .Values.tls.existingSecret }}https{{ else }}http{{ end }}
{{- end }}

{{/* The securityContext of every container, as Pod Security «restricted» requires, with the fields of the values. */}}
{{- define "keyframe.containerSecurity" -}}
{{- $fields := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) }}
{{- include "keyframe.replaced" (list $fields .Values.containerSecurityContext) }}
{{- end }}

{{/* The securityContext of every pod but PostgreSQL's. */}}
{{- define "keyframe.podSecurity" -}}
{{- $fields := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") }}
{{- include "keyframe.replaced" (list $fields .Values.podSecurityContext) }}
{{- end }}

{{/* The securityContext of the pods with PostgreSQL's image. */}}
{{- define "keyframe.postgresPodSecurity" -}}
runAsNonRoot: true
{{- with .Values.postgres.runAsUser }}
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* The fields of one dict, replaced by those of another one; null removes a field. Takes a list of both. */}}
{{- define "keyframe.replaced" -}}
{{- $fields := first . }}
{{- range $name, $value := last . }}
{{- if kindIs "invalid" $value }}{{ $_ := unset $fields $name }}{{ else }}{{ $_ := set $fields $name $value }}{{ end }}
{{- end }}
{{- toYaml $fields }}
{{- end }}

{{/* Fails if no image is named, or with its tag. Every object's labels include this check, so it precedes the errors of other templates. */}}
{{- define "keyframe.checkImage" -}}
{{- if not .Values.image.repository }}
{{- fail "image.repository is empty, and no public registry has the image. Build the image and push it to your registry, as docs/image.md describes. Then name it, as in --set image.repository=registry.example.com/keyframe" }}
{{- end }}
{{- if regexMatch "://|:[^/]*$" .Values.image.repository }}
{{- fail (printf "image.repository is %s: name the image without a scheme and without its tag, as in --set image.repository=registry.example.com/keyframe. image.tag is for the tag" .Values.image.repository) }}
{{- end }}
{{- end }}

{{/* Fails if values contradict each other. */}}
{{- define "keyframe.checkValues" -}}
{{- include "keyframe.checkMode" . }}
{{- if include "keyframe.hasServer" . }}
{{- include "keyframe.checkServerValues" . }}
{{- end }}
{{- if lt (int .Values.terminationGracePeriodSeconds) (add 25 (.Values.shutdownDelay | trimSuffix "s" | int)) }}
{{- fail "terminationGracePeriodSeconds must be at least 25 more than shutdownDelay: otherwise requests in progress are cut off" }}
{{- end }}
{{- if and .Values.rolloutNamespaces (not .Values.rollouts) }}
{{- fail "rolloutNamespaces needs rollouts: true" }}
{{- end }}
{{- if .Values.watchNamespaces }}
{{- range .Values.rolloutNamespaces }}
{{- if not (has . $.Values.watchNamespaces) }}
{{- fail (printf "rolloutNamespaces has %s, which watchNamespaces lacks: the controller does not watch it" .) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "keyframe.checkServerValues" -}}
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
{{- if .Values.database.migration.existingSecret }}
{{- if .Values.postgres.enabled }}
{{- fail "database.migration is for an external database: the PostgreSQL of postgres.enabled has a separate role without it" }}
{{- end }}
{{- if not .Values.database.existingSecret }}
{{- fail "database.migration needs database.existingSecret: the Secret with the address as which the pods connect must exist before the migration" }}
{{- end }}
{{- if and (eq .Values.database.migration.existingSecret .Values.database.existingSecret) (eq .Values.database.migration.key .Values.database.key) }}
{{- fail (printf "database.migration and database.existingSecret name the same address (key %s of the Secret %s): the pods would connect as the owner of the tables, who can change the audit. Name the address of another role in database.existingSecret, or unset database.migration to use one role" .Values.database.key .Values.database.existingSecret) }}
{{- end }}
{{- end }}
{{- with .Values.database.finishUpgrade }}
{{- if semverCompare (printf ">%s" (include "keyframe.minorRelease" $)) . }}
{{- fail (printf "database.finishUpgrade is %s, and the chart is of release %s: first upgrade to the chart of that release" . $.Chart.AppVersion) }}
{{- end }}
{{- end }}
{{- if and .Values.database.ca.existingSecret .Values.postgres.enabled }}
{{- fail "database.ca is for an external database: the PostgreSQL of postgres.enabled has no certificate" }}
{{- end }}
{{- if and .Values.bootstrap.existingSecret (not .Values.bootstrap.adminEmail) }}
{{- fail "bootstrap.existingSecret holds the token of the administrator that bootstrap.adminEmail names, which is not set" }}
{{- end }}
{{- if and .Release.IsInstall (regexMatch "(?i)[@.]example(\\.(com|net|org))?$" .Values.bootstrap.adminEmail) }}
{{- fail (printf "bootstrap.adminEmail is still the placeholder %s: set the address of the first administrator, as in --set bootstrap.adminEmail=ADDRESS, or make it empty for none" .Values.bootstrap.adminEmail) }}
{{- end }}
{{- if and (include "keyframe.initNames" .) (not (include "keyframe.hookAccounts" .)) }}
{{- fail "init.enabled requires rbac.create and serviceAccount.create for its account: set them, or create the Secrets as the chart's README describes and set init.enabled to false" }}
{{- end }}
{{- if and .Values.controller.separate (not .Values.init.enabled) }}
{{- range list "controller.token.existingSecret" "clusterTls.existingSecret" }}
{{- if not (include "keyframe.valueAt" (list $ .)) }}
{{- fail (printf "init.enabled is false, and the controller reaches the API over HTTPS: create a Secret as the chart's README describes, and name it in %s. Or set controller.separate to false" .) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.postgres.backup.enabled (not .Values.postgres.enabled) }}
{{- fail "postgres.backup dumps the chart's own PostgreSQL, and postgres.enabled is false: back up your database as docs/backup-and-recovery.md describes" }}
{{- end }}
{{- with .Values.autoscaling }}
{{- if and .enabled (lt (int .maxReplicas) (int $.Values.replicas)) }}
{{- fail "autoscaling.maxReplicas must be at least replicas, which is the least number of pods" }}
{{- end }}
{{- end }}
{{- if and .Values.ingress.extraHosts (not .Values.ingress.enabled) }}
{{- fail "ingress.extraHosts needs ingress.enabled: true" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.host is required if ingress.enabled is true" }}
{{- end }}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
{{- fail "httpRoute.parentRefs is required if httpRoute.enabled is true: name the Gateway" }}
{{- end }}
{{- if and .Values.service.loadBalancerClass (ne .Values.service.type "LoadBalancer") }}
{{- fail "service.loadBalancerClass needs service.type LoadBalancer" }}
{{- end }}
{{- end }}

{{/*
Fails if another installation would reconcile the same resources. Its ClusterRoles are found by their labels: every one has
NAME-controller-cluster, and NAME-controller if it serves all namespaces. Without a cluster, as in helm template, none is found.
*/}}
{{- define "keyframe.checkInstallations" -}}
{{- if .Values.rbac.create }}
{{- range (lookup "rbac.authorization.k8s.io/v1" "ClusterRole" "" "").items }}
{{- $name := trimSuffix "-cluster" .metadata.name }}
{{- if and (eq (dig "labels" "app.kubernetes.io/part-of" "" .metadata) "keyframe") (hasSuffix "-controller" $name) (ne $name .metadata.name) }}
{{- $release := dig "annotations" "meta.helm.sh/release-name" (dig "labels" "app.kubernetes.io/instance" $name .metadata) .metadata }}
{{- $namespace := dig "annotations" "meta.helm.sh/release-namespace" (trimSuffix (printf "-%s-controller" $release) $name) .metadata }}
{{- if ne (list $release $namespace | toJson) (list $.Release.Name $.Release.Namespace | toJson) }}
{{- include "keyframe.checkInstallation" (dict "root" $ "role" $name "which" (printf "the installation %s in the namespace %s" $release $namespace)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Takes a dict: root, role (the other installation's, without -cluster), which. */}}
{{- define "keyframe.checkInstallation" -}}
{{- $advice := "Two controllers would overwrite each other's Secrets and statuses. Use that installation, which can serve every namespace, or give each one other namespaces in watchNamespaces" }}
{{- if lookup "rbac.authorization.k8s.io/v1" "ClusterRole" "" .role }}
{{- fail (printf "%s serves all namespaces of this cluster. %s" .which $advice) }}
{{- end }}
{{- $watched := .root.Values.watchNamespaces }}
{{- if not $watched }}
{{- fail (printf "watchNamespaces is empty, and %s serves some namespaces of this cluster. %s" .which $advice) }}
{{- end }}
{{- range $watched }}
{{- if lookup "rbac.authorization.k8s.io/v1" "Role" . $.role }}
{{- fail (printf "watchNamespaces has %s, which %s serves. %s" . $.which $advice) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "fas.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* What finds the pods of one process. Deployments never change it. */}}
{{- define "fas.selector" -}}
app.kubernetes.io/name: financial-accounts-service
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- with .worker }}
financial-accounts-service/worker: {{ . }}
{{- end }}
{{- end }}

{{- define "fas.podLabels" -}}
{{ include "fas.selector" . }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | trunc 63 | quote }}
{{- end }}

{{- define "fas.labels" -}}
{{ include "fas.podLabels" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "fas.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* A name that changes with the content: a pod keeps what it began with, and a new content starts new pods. */}}
{{- define "fas.configuration" -}}
{{ include "fas.name" . }}-configuration-{{ .Values.configuration | toJson | sha256sum | trunc 10 }}
{{- end }}

{{/* Not empty if the chart gives each release's workers the tasks. */}}
{{- define "fas.isVersioned" -}}
{{- if and .Values.environment.TEMPORAL_DEPLOYMENT_NAME .Values.workerVersion.setCurrent }}true{{ end }}
{{- end }}

{{/* Whether a bank is reached by SFTP: the chart has keys for it, or the configuration names one. */}}
{{- define "fas.usesSftp" -}}
{{- if .Values.bankFiles.keysSecret }}yes{{ end -}}
{{- range $provider := dig "providers" dict .Values.configuration }}
{{- if $provider }}{{ if eq (dig "iso20022" "transport" "kind" "" $provider) "sftp" }}yes{{ end }}{{ end -}}
{{- end -}}
{{- end }}

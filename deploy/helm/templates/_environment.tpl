{{/*
Which process reads which variable. All of them read what is not named here; `migrate` reads none of `environment`.
*/}}
{{- define "fas.readers" -}}
OTEL_EXPORTER_OTLP_ENDPOINT: &traced [api, loops, worker, console]
OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: *traced
OTEL_EXPORTER_OTLP_PROTOCOL: *traced
OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: *traced
OTEL_TRACES_SAMPLER: *traced
OTEL_TRACES_SAMPLER_ARG: *traced
OTEL_TRACES_EXPORTER: *traced
OTEL_SDK_DISABLED: *traced
MAIL_FROM: [worker]
TEMPORAL_ADDRESS: &temporal [api, loops, worker, console, worker-version]
TEMPORAL_NAMESPACE: *temporal
TEMPORAL_TLS: *temporal
TEMPORAL_TLS_SERVER_NAME: *temporal
TEMPORAL_API_KEY: *temporal
TEMPORAL_DEPLOYMENT_NAME: [worker, worker-version]
TEMPORAL_WORKER_BUILD_ID: [worker]
CONSOLE_ISSUER: [console]
CONSOLE_CLIENT_ID: [console]
TEMPORAL_UI_URL: [console]
DATABASE_URL: [api, loops, worker, console, migrate, worker-version]
DATABASE_READ_URL: [api]
MIGRATION_DATABASE_URL: [migrate]
ENCRYPTION_KEY: [api, loops, worker]
SMTP_URL: [worker]
SFTP_PASSPHRASE: [loops]
PGP_PASSPHRASE: [loops]
EU_VOP_KEY_PASSPHRASE: [api]
CONSOLE_CLIENT_SECRET: [console]
{{- end }}

{{/* The variables of a process: what was given, and what the chart knows itself. */}}
{{- define "fas.environment" -}}
{{- $process := .component -}}
{{- $readers := include "fas.readers" .root | fromYaml -}}
{{- $all := list "api" "loops" "worker" "console" -}}
{{- range $name, $value := .root.Values.environment }}
{{- if and (ne (toString $value) "") (has $process (get $readers $name | default $all)) }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}
{{- range $name, $reference := .root.Values.secrets }}
{{- if and $reference (has $process (get $readers $name | default $all)) }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $reference.name }}, key: {{ $reference.key }} } }
{{- end }}
{{- end }}
{{- if has $process $all }}
{{- if .root.Values.configuration }}
- { name: CONFIG_FILE, value: /etc/financial-accounts-service/configuration.json }
{{- end }}
# The pod's own address, of whichever family: probes, Services and Prometheus come there.
- { name: METRICS_HOST, valueFrom: { fieldRef: { fieldPath: status.podIP } } }
- { name: METRICS_PORT, value: "9464" }
{{- end }}
{{- if has $process (get $readers "TEMPORAL_ADDRESS") }}
{{- with .root.Values.temporalTls }}
{{- if .secretName }}
{{- if .caKey }}
- { name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /etc/temporal-tls/{{ .caKey }} }
{{- end }}
{{- if .certificateKey }}
- { name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: /etc/temporal-tls/{{ .certificateKey }} }
- { name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: /etc/temporal-tls/{{ .privateKeyKey }} }
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if eq $process "api" }}
{{- with .root.Values.directoryTls }}
{{- if .secretName }}
{{- if .caKey }}
- { name: EU_VOP_CA_FILE, value: /etc/directory-tls/{{ .caKey }} }
{{- end }}
{{- if .certificateKey }}
- { name: EU_VOP_CERTIFICATE_FILE, value: /etc/directory-tls/{{ .certificateKey }} }
- { name: EU_VOP_KEY_FILE, value: /etc/directory-tls/{{ .privateKeyKey }} }
{{- end }}
{{- end }}
{{- end }}
- { name: API_HOST, valueFrom: { fieldRef: { fieldPath: status.podIP } } }
- { name: PORT, value: "3000" }
- { name: API_LOOPS, value: "off" }
{{- else if eq $process "console" }}
- { name: CONSOLE_HOST, valueFrom: { fieldRef: { fieldPath: status.podIP } } }
- { name: CONSOLE_PORT, value: "3200" }
{{- else if eq $process "worker" }}
- { name: WORKER_TASK_QUEUES, value: {{ join "," .worker.taskQueues | quote }} }
- { name: WORKER_DRAIN_SECONDS, value: {{ .worker.drainSeconds | quote }} }
{{- end }}
{{- with .root.Values.pods.extraEnvironment }}
{{ toYaml . }}
{{- end }}
{{- end }}

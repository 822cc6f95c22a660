{{/* What each process is: its program in the image, its ports, where it tells whether it is ready, how long its orderly stop may take. */}}
{{- define "fas.processes" -}}
api: { program: dist/api.mjs, ports: { http: 3000, metrics: 9464 }, probes: { port: http, live: /health/live, ready: /health/ready }, stopSeconds: 15 }
loops: { program: dist/loops.mjs, ports: { metrics: 9464 }, probes: { port: metrics, live: /health/live, ready: /health/ready }, stopSeconds: 15 }
worker: { program: dist/worker.mjs, ports: { metrics: 9464 }, probes: { port: metrics, live: /health/live, ready: /health/ready }, stopSeconds: 13 }
console: { program: dist/console.mjs, ports: { http: 3200, metrics: 9464 }, probes: { port: http, live: /healthz, ready: /readyz }, stopSeconds: 15 }
{{- end }}

{{- define "fas.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "fas.mounts" -}}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
{{- if .root.Values.configuration }}
  - { name: configuration, mountPath: /etc/financial-accounts-service, readOnly: true }
{{- end }}
{{- if .root.Values.temporalTls.secretName }}
  - { name: temporal-tls, mountPath: /etc/temporal-tls, readOnly: true }
{{- end }}
{{- if and (eq .component "api") .root.Values.directoryTls.secretName }}
  - { name: directory-tls, mountPath: /etc/directory-tls, readOnly: true }
{{- end }}
{{- if eq .component "loops" }}
{{- if .root.Values.bankFiles.keysSecret }}
  - { name: bank-keys, mountPath: /etc/bank-keys, readOnly: true }
{{- end }}
{{- if .root.Values.bankFiles.folderClaim }}
  - { name: bank-files, mountPath: /bank-files }
{{- end }}
{{- end }}
{{- with .root.Values.pods.extraVolumeMounts }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- end }}

{{/* What pods of processes and of the migration share. Files of banks are the loops' only. */}}
{{- define "fas.podSpec" -}}
{{- $pods := .root.Values.pods -}}
serviceAccountName: {{ $pods.serviceAccountName }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- with $pods.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $pods.nodeSelector }}
nodeSelector:
{{ toYaml . | indent 2 }}
{{- end }}
{{- with $pods.tolerations }}
tolerations:
{{ toYaml . | indent 2 }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: { sizeLimit: 64Mi }
{{- if .root.Values.configuration }}
  - name: configuration
    configMap: { name: {{ .configuration }} }
{{- end }}
{{- if .root.Values.temporalTls.secretName }}
  - name: temporal-tls
    secret: { secretName: {{ .root.Values.temporalTls.secretName }}, defaultMode: 0440 }
{{- end }}
{{- if and (or (eq .component "api") .checksApi) .root.Values.directoryTls.secretName }}
  - name: directory-tls
    secret: { secretName: {{ .root.Values.directoryTls.secretName }}, defaultMode: 0440 }
{{- end }}
{{- if eq .component "loops" }}
{{- with .root.Values.bankFiles.keysSecret }}
  - name: bank-keys
    secret: { secretName: {{ . }}, defaultMode: 0440 }
{{- end }}
{{- with .root.Values.bankFiles.folderClaim }}
  - name: bank-files
    persistentVolumeClaim: { claimName: {{ . }} }
{{- end }}
{{- end }}
{{- with $pods.extraVolumes }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- end }}

{{/* A Deployment, with root, component, name, replicas (none: an autoscaler's) and resources; worker (its name) and its settings. */}}
{{- define "fas.deployment" -}}
{{- $process := get (include "fas.processes" .root | fromYaml) .component -}}
{{- $isServing := hasKey $process.ports "http" -}}
{{- $drainSeconds := 0 -}}
{{- if eq .component "worker" }}{{ $drainSeconds = .settings.drainSeconds }}{{ end -}}
{{- $pause := ternary 5 0 $isServing -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  labels:
{{ include "fas.labels" . | indent 4 }}
spec:
{{- if hasKey . "replicas" }}
  replicas: {{ .replicas }}
{{- end }}
  revisionHistoryLimit: 5
  progressDeadlineSeconds: 300
{{- if and (eq .component "worker") (include "fas.isVersioned" .root) }}
  # Until it gets the tasks, the old one stays (workers.yaml).
  minReadySeconds: 20
{{- end }}
  # An old pod goes when a new one is ready: with settings that stop the start, none goes.
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  selector:
    matchLabels:
{{ include "fas.selector" . | indent 6 }}
  template:
    metadata:
      labels:
{{ include "fas.podLabels" . | indent 8 }}
{{- with .root.Values.pods.labels }}
{{ toYaml . | indent 8 }}
{{- end }}
{{- with .root.Values.pods.annotations }}
      annotations:
{{ toYaml . | indent 8 }}
{{- end }}
    spec:
      # A few seconds more than the process takes to stop in order, after which it ends itself.
      terminationGracePeriodSeconds: {{ add $process.stopSeconds $drainSeconds $pause 7 }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
{{ include "fas.selector" . | indent 14 }}
{{ include "fas.podSpec" (dict "root" .root "component" .component "configuration" (include "fas.configuration" .root)) | indent 6 }}
      containers:
        - name: {{ .component }}
          image: {{ include "fas.image" .root }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          command: [node, {{ $process.program }}]
{{ include "fas.containerSecurity" . | indent 10 }}
          env:
{{ include "fas.environment" (dict "root" .root "component" .component "worker" .settings) | trim | indent 12 }}
          ports:
{{- range $name, $port := $process.ports }}
            - { name: {{ $name }}, containerPort: {{ $port }} }
{{- end }}
          startupProbe:
            httpGet: { port: {{ $process.probes.port }}, path: {{ $process.probes.live }} }
            periodSeconds: 1
            failureThreshold: 60
          # Postgres and Temporal may be away: a restart would mend neither.
          livenessProbe:
            httpGet: { port: {{ $process.probes.port }}, path: {{ $process.probes.live }} }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { port: {{ $process.probes.port }}, path: {{ $process.probes.ready }} }
            periodSeconds: 5
            timeoutSeconds: 4
            failureThreshold: 2
{{- if $isServing }}
          # Balancers hear of the end before it stops accepting.
          lifecycle: { preStop: { sleep: { seconds: {{ $pause }} } } }
{{- end }}
          resources:
{{ toYaml .resources | indent 12 }}
{{ include "fas.mounts" . | indent 10 }}
{{- end }}

{{- define "fas.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .name }}
  labels:
{{ include "fas.labels" . | indent 4 }}
{{- with .annotations }}
  annotations:
{{ toYaml . | indent 4 }}
{{- end }}
spec:
  ports:
    - { name: http, port: 80, targetPort: http }
  selector:
{{ include "fas.selector" . | indent 4 }}
{{- end }}

{{- define "fas.disruptions" -}}
{{- with .root.Values.podDisruptionBudget }}
{{- if .enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $.name }}
  labels:
{{ include "fas.labels" $ | indent 4 }}
spec:
  maxUnavailable: {{ .maxUnavailable }}
  # Pods that are not ready, as while Postgres is away, must not hold a node.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
{{ include "fas.selector" $ | indent 6 }}
{{- end }}
{{- end }}
{{- end }}

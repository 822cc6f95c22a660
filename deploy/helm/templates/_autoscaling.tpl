{{/*
The larger of two: how long the oldest task has waited, and the share of slots in use. The first is nothing while slots are full and no
further task comes: without the second, busy workers would be taken away. While Prometheus does not answer, the autoscaler takes none away.
*/}}
{{- define "fas.autoscaling" -}}
{{- $of := printf "namespace=%q,task_queue=~%q" .root.Release.Namespace (join "|" .settings.taskQueues) -}}
{{- $slots := "sum by (task_queue, worker_type) (temporal_worker_task_slots_%s{%s})" -}}
{{- $used := printf $slots "used" $of -}}
{{- $available := printf $slots "available" $of -}}
{{- $lag := printf "max(task_queue_lag_seconds{%s})" $of -}}
{{- $share := printf "max(%s / (%s + %s))" $used $used $available -}}
{{- with .settings.autoscaling -}}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ $.name }}
  labels:
{{ include "fas.labels" $ | indent 4 }}
spec:
  scaleTargetRef: { name: {{ $.name }} }
  minReplicaCount: {{ .minReplicas }}
  maxReplicaCount: {{ .maxReplicas }}
  pollingInterval: 15
  advanced:
    horizontalPodAutoscalerConfig:
      behavior:
        scaleUp:
          stabilizationWindowSeconds: 0
          policies: [{ type: Percent, value: 100, periodSeconds: 60 }, { type: Pods, value: 2, periodSeconds: 60 }]
        # One at a time, each after the one before has drained.
        scaleDown:
          stabilizationWindowSeconds: 600
          policies: [{ type: Pods, value: 1, periodSeconds: {{ max 60 (add $.settings.drainSeconds 20) }} }]
  triggers:
{{- range $trigger := list (dict "name" "lag" "query" $lag "threshold" (.lagSeconds | default 5)) (dict "name" "slots" "query" $share "threshold" (.slotsInUse | default 0.7)) }}
    - type: prometheus
      name: {{ $trigger.name }}
      metricType: Value
      metadata:
        serverAddress: {{ $.root.Values.autoscaling.prometheusUrl | quote }}
        query: {{ $trigger.query | quote }}
        threshold: {{ $trigger.threshold | quote }}
        # Without samples nothing is known, which is not nothing.
        ignoreNullValues: "false"
{{- end }}
{{- end }}
{{- end }}

{{/* Of one process: who comes in, and where it goes. Nothing else passes. */}}
{{- define "fas.networkPolicy" -}}
{{- $policy := .process.root.Values.networkPolicy -}}
{{- $component := .process.component -}}
{{- $isServing := not (has $component (list "migrate" "worker-version")) -}}
{{- $sftpPorts := ternary $policy.sftpPorts list (ne (include "fas.usesSftp" .process.root) "") -}}
{{- $ownPorts := get (dict "worker" $policy.mailPorts "loops" $sftpPorts) $component | default list -}}
{{- $from := get (dict "api" $policy.apiFrom "console" $policy.consoleFrom) $component -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .process.name }}
  labels:
{{ include "fas.labels" .process | indent 4 }}
{{- with .hook }}
{{ . | indent 2 }}
{{- end }}
spec:
  podSelector:
    matchLabels:
{{ include "fas.selector" .process | indent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
{{- if $from }}
    - from: {{ $from | toJson }}
      ports: [{ protocol: TCP, port: http }]
{{- end }}
{{- if and $policy.metricsFrom $isServing }}
    - from: {{ $policy.metricsFrom | toJson }}
      ports: [{ protocol: TCP, port: metrics }]
{{- end }}
  egress:
    - ports: [{ protocol: UDP, port: 53 }, { protocol: TCP, port: 53 }]
    - ports: [{ protocol: TCP, port: {{ $policy.postgres.port }} }]
{{- with $policy.postgres.to }}
      to: {{ . | toJson }}
{{- end }}
{{- if ne $component "migrate" }}
    - ports: [{ protocol: TCP, port: {{ $policy.temporal.port }} }]
{{- with $policy.temporal.to }}
      to: {{ . | toJson }}
{{- end }}
{{- end }}
{{- if $isServing }}
    - to:
        - ipBlock: { cidr: 0.0.0.0/0, except: [169.254.0.0/16] }
        - ipBlock: { cidr: "::/0", except: ["fe80::/10"] }
      ports:
{{- range concat $policy.outsidePorts $ownPorts | uniq }}
        - { protocol: TCP, port: {{ . }} }
{{- end }}
{{- end }}
{{- end }}

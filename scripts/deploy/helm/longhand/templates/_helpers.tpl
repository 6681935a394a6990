{{- define "longhand.labels" -}}
app.kubernetes.io/name: longhand
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "longhand.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end }}

{{- define "longhand.engineImage" -}}
{{- with .Values.engine.gpu -}}
{{- if .enabled -}}
{{ .image.repository | default $.Values.image.repository }}:{{ .image.tag | default (printf "%v-gpu" $.Values.image.tag) }}
{{- else -}}
{{ include "longhand.image" $ }}
{{- end }}
{{- end }}
{{- end }}

{{- define "longhand.environment" -}}
envFrom:
  - secretRef: { name: {{ .Values.secretName }} }
env:
  - { name: LONGHAND_MEDIA, value: {{ .Values.media | quote }} }
  - { name: LOG_FORMAT, value: json }
{{- range $name, $value := .Values.env }}
  - { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{/* No part talks to Kubernetes. Service links would set LONGHAND_PORT and the like, which are no settings. */}}
{{- define "longhand.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- end }}

{{- define "longhand.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 999
capabilities: { drop: [ALL] }
{{- end }}

{{/* Of a part that sees no recordings. */}}
{{- define "longhand.ownMounts" -}}
- { name: home, mountPath: /var/lib/longhand }
- { name: tmp, mountPath: /tmp }
{{- end }}

{{- define "longhand.ownVolumes" -}}
- { name: home, emptyDir: {} }
- { name: tmp, emptyDir: {} }
{{- end }}

{{- define "longhand.mounts" -}}
{{ include "longhand.ownMounts" . }}
{{- if not (hasPrefix "s3://" .Values.media) }}
- { name: spool, mountPath: {{ .Values.media }} }
{{- end }}
{{- end }}

{{- define "longhand.volumes" -}}
{{ include "longhand.ownVolumes" . }}
{{- if not (hasPrefix "s3://" .Values.media) }}
- name: spool
  persistentVolumeClaim: { claimName: {{ .Values.spool.existingClaim | default (printf "%s-spool" .Release.Name) }} }
{{- end }}
{{- end }}

{{/* Of engines and of the job that makes models for them. */}}
{{- define "longhand.modelsMount" -}}
{{- if .Values.models.enabled -}}
- { name: models, mountPath: /var/lib/longhand/models }
{{- end }}
{{- end }}

{{- define "longhand.modelsVolume" -}}
{{- if .Values.models.enabled -}}
- name: models
  persistentVolumeClaim: { claimName: {{ .Values.models.existingClaim | default (printf "%s-models" .Release.Name) }} }
{{- end }}
{{- end }}

{{/* An egress rule for DNS, and addresses outside the cluster and its private networks. */}}
{{- define "longhand.names" -}}
ports: [{ protocol: UDP, port: 53 }, { protocol: TCP, port: 53 }]
to: [{ namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: kube-system } } }]
{{- end }}

{{- define "longhand.internet" -}}
- ipBlock: { cidr: 0.0.0.0/0, except: [10.0.0.0/8, 100.64.0.0/10, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16] }
- ipBlock: { cidr: "::/0", except: ["fc00::/7", "fe80::/10"] }
{{- end }}

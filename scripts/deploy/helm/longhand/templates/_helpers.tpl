{{- define "longhand.labels" -}}
app.kubernetes.io/name: longhand
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
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

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

{{- define "longhand.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 999
capabilities: { drop: [ALL] }
{{- end }}

{{- define "longhand.mounts" -}}
- { name: home, mountPath: /var/lib/longhand }
- { name: tmp, mountPath: /tmp }
{{- if not (hasPrefix "s3://" .Values.media) }}
- { name: spool, mountPath: {{ .Values.media }} }
{{- end }}
{{- end }}

{{- define "longhand.volumes" -}}
- { name: home, emptyDir: {} }
- { name: tmp, emptyDir: {} }
{{- if not (hasPrefix "s3://" .Values.media) }}
- name: spool
  persistentVolumeClaim: { claimName: {{ .Values.spool.existingClaim | default (printf "%s-spool" .Release.Name) }} }
{{- end }}
{{- end }}

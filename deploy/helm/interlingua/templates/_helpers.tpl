{{- define "interlingua.labels" -}}
app.kubernetes.io/name: interlingua
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "interlingua.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end -}}
{{- end }}

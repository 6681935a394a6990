/** Descriptions of the groups of operations, in display order. */
export const TAGS: Readonly<Record<string, string>> = {
  Transcriptions: 'Upload recordings, find and read what became of them.',
  Export: 'Transcripts as files.',
  Reports: 'Written from a transcript by a template.',
  Workspace: 'Balance, limits and projects.',
  OpenAI: "For clients of OpenAI's API: `openai`, Open WebUI, n8n and the like. Their base URL is this server with `/v1`.",
  Webhooks: 'Addresses that are told when a transcription or a report has ended.',
  Members: 'Who works here, and under which names other systems know them.',
};

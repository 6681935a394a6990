/** Descriptions of the groups of operations, in display order. */
export const TAGS: Readonly<Record<string, string>> = {
  Transcriptions: 'Upload recordings; find, read and delete transcriptions.',
  Export: 'Transcripts as files.',
  Reports: 'Texts written from a transcript according to a template.',
  Workspace: 'Balance, limits and projects.',
  OpenAI:
    "For clients of OpenAI's API: `openai`, Open WebUI, n8n and others. Their base URL is the address of this server followed by `/v1`.",
  Webhooks: 'Notifications when a transcription or report reaches a final status.',
  Members: 'Members of the workspace and their identities in other systems.',
};

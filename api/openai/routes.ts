import { z } from 'zod';
import { ApiError } from '../contract/errors.ts';
import { json, route } from '../http/route.ts';
import { OpenAiTranscription } from './answer.ts';
import { FORMATS } from './options.ts';
import { refusals } from './refusals.ts';
import { transcribeForm } from './transcribe.ts';

const TAG = 'OpenAI';
const READ = { scope: 'read', scopeError: null } as const;
const USUAL = 'whisper-1'; // the clients' default

const text = (description: string) => ({ type: 'string', description });

export const createTranscription = route({
  method: 'POST',
  path: '/v1/audio/transcriptions',
  id: 'createTranscription',
  summary: "Transcribe and wait, for clients of OpenAI's API",
  description:
    'The recording becomes an ordinary transcription, with the usual limits and charge; the response is sent when it is completed. `diarized_json` includes the speaker of each segment. After LONGHAND_WAIT_S seconds (600) the response is 504 and the transcription continues. If the client disconnects, the transcription is deleted. Other fields of that API are accepted and ignored. In segments of `verbose_json`, seek, tokens, temperature, avg_logprob, compression_ratio and no_speech_prob are placeholders for clients that require these fields.',
  tag: TAG,
  access: { scope: 'uploads:write', scopeError: 'upload_scope_required' },
  refusals,
  form: {
    type: 'object',
    required: ['file', 'model'],
    properties: {
      file: { type: 'string', format: 'binary', description: 'The recording, with its file name' },
      model: text('Any name; the configured model is used'),
      language: text('ISO 639-1 code; detected if omitted'),
      prompt: text('Names and terms that occur in this recording, added to the vocabulary of the workspace'),
      response_format: { type: 'string', enum: FORMATS, default: 'json' },
      'timestamp_granularities[]': {
        type: 'array',
        items: { type: 'string', enum: ['word', 'segment'] },
        description: 'Only with verbose_json',
      },
    },
  },
  answers: {
    200: {
      description: 'The transcript in the requested format',
      schema: OpenAiTranscription,
      example: { text: 'Hello, this is Anna. Hi Anna.', usage: { type: 'duration', seconds: 13 } },
      type: ['text/plain', 'application/x-subrip', 'text/vtt'],
    },
  },
  errors: [
    'invalid_form',
    'stream_unsupported',
    'unsupported_file_format',
    'file_too_small',
    'recording_unusable',
    'insufficient_balance',
    'upload_timeout',
    'file_size_limit_exceeded',
    'too_many_concurrent_uploads',
    'too_many_queued_files',
    'upload_quota_exceeded',
    'transcription_timeout',
  ],
  handler: transcribeForm,
});

const Model = z.object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() }).meta({ id: 'OpenAiModel' });
const ModelList = z.object({ object: z.literal('list'), data: z.array(Model) }).meta({ id: 'OpenAiModelList' });

const modelOf = (id: string) => ({ id, object: 'model' as const, created: 0, owned_by: 'longhand' });

export const listModels = route({
  method: 'GET',
  path: '/v1/models',
  id: 'listModels',
  summary: "List models, for clients of OpenAI's API",
  description: `The configured model and \`${USUAL}\`, an alias for it.`,
  tag: TAG,
  access: READ,
  refusals,
  answers: { 200: { description: 'Models', schema: ModelList, example: { object: 'list', data: [modelOf('whisper-base')] } } },
  errors: [],
  handler: ({ settings }) => json(200, { object: 'list', data: [...new Set([settings.LONGHAND_MODEL, USUAL])].map(modelOf) }),
});

export const getModel = route({
  method: 'GET',
  path: '/v1/models/{model}',
  id: 'getModel',
  summary: "Get one model, for clients of OpenAI's API",
  tag: TAG,
  access: READ,
  refusals,
  params: { model: 'Its name' },
  answers: { 200: { description: 'The model', schema: Model, example: modelOf('whisper-base') } },
  errors: ['model_not_found'],
  handler({ settings, params }) {
    if (params.model !== settings.LONGHAND_MODEL && params.model !== USUAL) throw new ApiError('model_not_found');
    return json(200, modelOf(params.model));
  },
});

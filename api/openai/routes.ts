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
    'The recording becomes an ordinary transcription with its limits and charge; the answer comes when it is done. `diarized_json` names the speaker of each segment. After LONGHAND_WAIT_S seconds (600) the answer is 504 and the transcription goes on. When the client goes away it is deleted. Other fields of that API are accepted and ignored. On segments of `verbose_json` seek, tokens, temperature, avg_logprob, compression_ratio and no_speech_prob are there for clients that need the fields, and say nothing.',
  tag: TAG,
  access: { scope: 'uploads:write', scopeError: 'upload_scope_required' },
  refusals,
  form: {
    type: 'object',
    required: ['file', 'model'],
    properties: {
      file: { type: 'string', format: 'binary', description: 'The recording, with its name' },
      model: text('Any name; unknown ones mean the model that is configured'),
      language: text('ISO 639-1 code; detected without one'),
      prompt: text('Names and terms of this recording, beside the vocabulary of the workspace'),
      response_format: { type: 'string', enum: FORMATS, default: 'json' },
      'timestamp_granularities[]': {
        type: 'array',
        items: { type: 'string', enum: ['word', 'segment'] },
        description: 'With verbose_json',
      },
    },
  },
  answers: {
    200: {
      description: 'The transcript in the form asked for',
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
  summary: "Models, for clients of OpenAI's API",
  description: `The configured model, and \`${USUAL}\`, which means the same.`,
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
  summary: "One model, for clients of OpenAI's API",
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

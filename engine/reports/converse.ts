import type { Model } from './model.ts';
import type { Prompt } from './prompt.ts';
import { ReportError, type Tokens } from './report.ts';
import { parse, type Shape } from './shapes.ts';

const TRIES = 3;
const REFUSAL =
  /^(?:i['’]?m (?:very )?sorry|i am sorry|sorry,? (?:but )?i|i (?:can(?:no|['’])t|cannot|am (?:not able|unable)|won['’]t)|as an ai|es tut mir leid|ich kann (?:das|diese|ihnen) .{0,40}nicht|lo siento|no puedo|je suis désolée?|je ne peux pas|desculpe|não posso|mi dispiace|non posso|извините|к сожалению,? я не могу|я не могу)/i;
const SHORT = 400; // characters; a longer text that starts like a refusal is not one
const LEAST = 30; // characters of prose that may count as a report

/**
 * Prompts until the answer has the expected shape, at most three times, stating what was wrong. If a model cannot produce JSON at all, a
 * report in prose is accepted (`value` is null then). Adds to `tokens`. Throws LLM_INVALID_OUTPUT, LLM_REFUSED, or the model's error.
 */
export async function converse<T>(
  model: Model,
  prompt: Prompt,
  shape: Shape<T>,
  output: number,
  tokens: Tokens,
  signal: AbortSignal,
): Promise<{ value: T | null; prose: string }> {
  let remark = '';
  let room = output;
  for (let attempt = 1; ; attempt++) {
    const reply = await model.ask({ system: prompt.system, user: prompt.user + remark }, shape, room, signal);
    tokens.input += reply.tokens.input;
    tokens.output += reply.tokens.output;
    if (reply.text.length < SHORT && REFUSAL.test(reply.text))
      throw new ReportError('LLM_REFUSED', 'Cannot write the report: the model refused in words');
    try {
      if (reply.cut) throw new ReportError('LLM_INVALID_OUTPUT', `Cannot use the model's answer: it was cut off after ${room} tokens`);
      if (shape.name === 'report' && !reply.text.includes('{') && reply.text.length >= LEAST) return { value: null, prose: reply.text };
      return { value: parse(reply.text, shape), prose: '' };
    } catch (error) {
      model.disappoint();
      if (!(error instanceof ReportError) || attempt === TRIES) throw error;
      remark = `\n\nYour last answer could not be used (${error.message}). Answer with the complete JSON object and nothing else${reply.cut ? ', and be much shorter' : ''}.`;
      if (reply.cut) room = Math.floor(room * 1.5);
    }
  }
}
